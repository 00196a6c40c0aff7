// Titles and links, device controls, cursor moves and colours: none of them is text.
const ESCAPES = /\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[P^_X][^\x1b]*(?:\x1b\\)?|\x1b\[[0-?]*[ -/]*[@-~]?|\x1b[ -/]*[0-~]?/g;
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** A log line without what only a terminal understands; of a line that was written over, the last writing. */
export function logText(text: string): string {
  const plain = text.replace(ESCAPES, '').replace(/\r+$/, '');
  return plain.slice(plain.lastIndexOf('\r') + 1).replace(CONTROLS, '');
}
