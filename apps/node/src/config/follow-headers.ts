import { readFileSync } from 'node:fs'
import { whyUnreadable } from '@ledger-state/core/files'
import { usageError } from '../errors.js'
import { MOST_TEXT } from './option.js'

/**
 * Pattern of a header: a token, and any text of visible characters, spaces and tabs (RFC 9110, sections 5.1 and 5.5).
 */
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([!-~\x80-\xff](?:[ \t!-~\x80-\xff]*[!-~\x80-\xff])?)$/

/**
 * Headers that cannot be set: headers of a connection, of the framing of a body, and headers that a follower itself
 * sets. Requests with them would fail.
 */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'range',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * Reads one header or a file of headers.
 * @param text `NAME: VALUE`, or `@FILE` for a file with one header a line
 * @throws `usage`, which does not quote the text: it may be a secret
 */
export function parseFollowHeaders(text: string): Readonly<Record<string, string>> {
  const lines = text.startsWith('@') ? linesOf(text.slice(1)) : [text]
  if (lines.join('').length > MOST_TEXT) throw usageError(`the headers have more than ${MOST_TEXT} characters`)
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const [, name, value] = HEADER.exec(line.trim()) ?? []
    if (name === undefined) throw usageError("expected a header such as 'Authorization: Bearer …', or @FILE")
    const key = name.toLowerCase()
    if (OWN_HEADERS.has(key)) throw usageError(`the header ${key} cannot be given: every request sets it`)
    headers[key] = value!
  }
  return headers
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line.trim() !== '')
  } catch (error) {
    const expected = "@FILE names a file with a header such as 'Authorization: Bearer …' on each line"
    throw usageError(`the file of headers ${path} cannot be read: ${whyUnreadable(error)}; ${expected}`)
  }
}
