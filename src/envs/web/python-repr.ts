/** @file Names in the observation are quoted as Python's repr() quotes a str, because WebArena prints them so. */

/** Letters, marks, numbers, punctuation and symbols are printed; controls, separators other than space, and private use are not. */
const UNPRINTABLE = /[\p{C}\p{Z}]/u;

export function pythonRepr(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  // Almost every name is plain; the slow path is for the rest.
  if (!/[^ -~]|[\\'"]/.test(text)) return quote + text + quote;
  let body = '';
  for (const character of text) {
    if (character === '\\' || character === quote) body += `\\${character}`;
    else if (character === '\n') body += '\\n';
    else if (character === '\r') body += '\\r';
    else if (character === '\t') body += '\\t';
    else if (character !== ' ' && UNPRINTABLE.test(character)) {
      const code = character.codePointAt(0) ?? 0;
      const hex = code.toString(16);
      if (code <= 0xff) body += `\\x${hex.padStart(2, '0')}`;
      else if (code <= 0xffff) body += `\\u${hex.padStart(4, '0')}`;
      else body += `\\U${hex.padStart(8, '0')}`;
    } else body += character;
  }
  return quote + body + quote;
}
