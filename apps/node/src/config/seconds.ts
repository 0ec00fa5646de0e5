import { wholeNumber } from './option.js'

/** Text of milliseconds, in seconds. */
export function secondsText(milliseconds: number): string {
  return String(milliseconds / 1_000)
}

/** Returns a parser of seconds, at most a day, to milliseconds. */
export function seconds(least: number): (text: string) => number {
  return (text) => wholeNumber(least, 86_400)(text) * 1_000
}
