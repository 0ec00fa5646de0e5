import { invalidArgument } from '../errors.js'

/** Address of a server for the driver, and its name for messages. */
export interface ServerAddress {
  /** URL for the driver. It may have a password. */
  readonly url: string
  /** Name for messages: `user@host:port/database`. */
  readonly name: string
}

/** Parses the URL of a server. @throws `invalid_argument`, without the text of the URL, which may have a password */
export function parseServerUrl(text: unknown): ServerAddress {
  if (typeof text !== 'string') throw invalidArgument.urlWrong('is not text')
  if (!/^postgres(ql)?:\/\//.test(text))
    throw invalidArgument.urlWrong('does not begin with postgres:// or postgresql://')
  if (!URL.canParse(text)) throw invalidArgument.urlWrong('cannot be parsed')
  const { username, hostname, port, pathname, searchParams } = new URL(text)
  const database = pathname.slice(1)
  if (database.includes('/')) throw invalidArgument.urlWrong('has a path of several parts')
  const host = searchParams.get('host') ?? hostname
  const user = username === '' ? '' : `${username}@`
  return { url: text, name: `${user}${host}${port === '' ? '' : `:${port}`}${database === '' ? '' : `/${database}`}` }
}
