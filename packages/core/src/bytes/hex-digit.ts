/** Value of each ASCII hex digit, 255 for every other character. */
const DIGIT_VALUE = new Uint8Array(128).fill(255)
for (let value = 0; value < 16; value++) {
  DIGIT_VALUE[value.toString(16).charCodeAt(0)] = value
  DIGIT_VALUE[value.toString(16).toUpperCase().charCodeAt(0)] = value
}

/** The value 0 to 15 of a hex digit given as UTF-16 code, or -1. */
export function hexDigitValue(charCode: number): number {
  const value = charCode < 128 ? DIGIT_VALUE[charCode]! : 255
  return value === 255 ? -1 : value
}
