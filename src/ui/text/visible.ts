/**
 * @file Text from a model, a file or a link is hostile: characters that hide or reorder text are shown as what they are.
 *
 * Everything on the page is a text node, so markup cannot run; what remains is text that lies about itself (bidi
 * overrides, zero-width joiners, control codes). They become visible glyphs instead of being dropped: a reader should
 * see that something was there.
 */

/** Control, format (bidi, zero width, soft hyphen, tags), lone surrogates, line separators, and what fonts leave blank. */
const suspicious = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** A control code has its own picture in Unicode (U+2400...); everything else is written out as its code point. */
function glyph(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  return `‹U+${code.toString(16).toUpperCase().padStart(4, '0')}›`;
}

/** Text safe to show: line feeds stay, everything invisible becomes visible, and it ends after `limit` characters. */
export function visible(text: string, limit = 4000): string {
  const cut = text.length > limit ? `${text.slice(0, limit)}…` : text;
  return cut.replace(suspicious, glyph);
}

/** The same on one line, for names and quoted values. */
export function visibleLine(text: string, limit = 200): string {
  return visible(text, limit).replace(/\n/g, '\u240a');
}
