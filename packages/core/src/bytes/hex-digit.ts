/** Value of each ASCII hex digit, -1 for every other character. */
const DIGIT_VALUE = new Int8Array(128).fill(-1)
for (let value = 0; value < 16; value++) {
  DIGIT_VALUE[value.toString(16).charCodeAt(0)] = value
  DIGIT_VALUE[value.toString(16).toUpperCase().charCodeAt(0)] = value
}

/** Value from 0 to 15 of a hex digit, given as UTF-16 code; -1 for any other character. */
export function hexDigitValue(charCode: number): number {
  return charCode < 128 ? DIGIT_VALUE[charCode]! : -1
}
