import { invalidOption } from './errors.js'

/** JSON of a value that the caller gave. @throws `invalid_argument` if it has none */
export function jsonOfRequest(option: string, value: unknown): string {
  try {
    const json = JSON.stringify(value)
    if (json !== undefined) return json
  } catch (error) {
    throw invalidOption.withoutJson(option, (error as Error).message)
  }
  throw invalidOption.withoutJson(option, `a ${typeof value}`)
}
