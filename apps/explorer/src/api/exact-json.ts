/** Texts of JSON, which stay as they are, and numbers. */
const TEXTS_AND_NUMBERS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
/** Whole numbers that JavaScript may not hold. */
const LONG = /^-?\d{16,}$/

/**
 * Parses JSON that a visitor wrote. A long whole number becomes its text, which a node reads as the same number: as a
 * number of JavaScript it would lose digits.
 * @throws `SyntaxError`
 */
export function parseExactly(json: string): unknown {
  JSON.parse(json)
  return JSON.parse(json.replaceAll(TEXTS_AND_NUMBERS, (found) => (LONG.test(found) ? `"${found}"` : found)))
}
