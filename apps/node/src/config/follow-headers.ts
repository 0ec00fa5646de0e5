import { readFileSync } from 'node:fs'
import { usageError } from '../errors.js'

/** A token, and any text of visible characters, spaces and tabs (RFC 9110, sections 5.1 and 5.5). */
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([!-~\x80-\xff](?:[ \t!-~\x80-\xff]*[!-~\x80-\xff])?)$/

/**
 * @param text `NAME: VALUE`, or `@FILE` for a file with one header a line
 * @throws `usage`, which does not quote the text: it may be a secret
 */
export function parseFollowHeaders(text: string): Readonly<Record<string, string>> {
  const lines = text.startsWith('@') ? linesOf(text.slice(1)) : [text]
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const [, name, value] = HEADER.exec(line.trim()) ?? []
    if (name === undefined) throw usageError("a header is expected, such as 'Authorization: Bearer …', or @FILE")
    headers[name.toLowerCase()] = value!
  }
  return headers
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line.trim() !== '')
  } catch (error) {
    throw usageError(`the file of headers cannot be read: ${(error as Error).message}`)
  }
}
