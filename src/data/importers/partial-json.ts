/** @file The beginning of a JSON document as a value: enough to tell what the document is, never used as data. */

/**
 * Cuts the text back to its last complete value and closes what is open. null when the text is no JSON so far.
 * A string value that is cut off keeps its beginning.
 */
export function parsePartialJson(text: string): unknown {
  const open: string[] = [];
  let safeEnd = 0;
  let safeOpen: string[] = [];
  let inString = false;
  let stringStart = 0;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at];
    if (inString) {
      if (letter === '\\') at++;
      else if (letter === '"') inString = false;
    } else if (letter === '"') {
      inString = true;
      stringStart = at;
    } else if (letter === '{' || letter === '[') {
      open.push(letter === '{' ? '}' : ']');
      if (open.length > 100) return null;
      [safeEnd, safeOpen] = [at + 1, [...open]];
    } else if (letter === '}' || letter === ']') {
      if (open.pop() !== letter) return null;
      [safeEnd, safeOpen] = [at + 1, [...open]];
      if (open.length === 0) return attempt(text.slice(0, safeEnd));
    } else if (letter === ',') [safeEnd, safeOpen] = [at, [...open]];
  }
  if (open.length === 0) return attempt(text);
  if (inString && /[:[,]\s*$/.test(text.slice(safeEnd, stringStart))) {
    // The last characters may be half an escape.
    const value = attempt(`${text.slice(0, -6).replace(/\\+$/, '')}"${[...open].reverse().join('')}`);
    if (value !== null) return value;
  }
  return attempt(text.slice(0, safeEnd) + [...safeOpen].reverse().join(''));
}

function attempt(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
