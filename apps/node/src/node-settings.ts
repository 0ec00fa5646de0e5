import type { CommandInput } from './command-line.js'
import { type ListenAddress, settings } from './config/settings.js'
import { usageError } from './option.js'
import type { ReaderSettings } from './processes/reader.js'
import type { WriterSettings } from './processes/writer.js'

/** What each part of a node is told. */
export interface NodeSettings {
  readonly dataDir: string
  readonly listen: ListenAddress
  /** Absent where it is switched off. */
  readonly adminListen: ListenAddress | undefined
  readonly readers: number
  readonly stopTimeoutMs: number
  readonly reader: ReaderSettings
  /** Absent where there is nothing to write: nothing to follow, and no window to keep. */
  readonly writer: WriterSettings | undefined
}

/** @throws `usage` where settings contradict each other */
export function nodeSettings(input: CommandInput, dataDir: string, defaultRetain?: bigint): NodeSettings {
  const output = { json: input.get(settings.json), bcs: input.get(settings.bcs) }
  if (!output.json && !output.bcs) throw usageError('--no-json and --no-bcs together leave nothing to answer with')
  const log = { level: input.get(settings.logLevel), format: input.get(settings.logFormat) }
  const stopTimeoutMs = input.get(settings.stopTimeout)
  const follow = input.get(settings.follow)
  const retain = input.get(settings.retain) ?? defaultRetain
  return {
    dataDir,
    listen: input.get(settings.listen),
    adminListen: input.get(settings.adminListen),
    readers: input.get(settings.readers),
    stopTimeoutMs,
    reader: {
      dataDir,
      headerWord: input.get(settings.headerWord),
      output,
      archivalEndpoint: input.get(settings.archivalEndpoint),
      bodyLimitBytes: input.get(settings.bodyLimit),
      maxConnections: input.get(settings.maxConnections),
      maxRequestsInFlight: input.get(settings.maxRequestsInFlight),
      requestTimeoutMs: input.get(settings.requestTimeout),
      idleTimeoutMs: input.get(settings.idleTimeout),
      stopTimeoutMs,
      log,
    },
    writer:
      follow === undefined && retain === undefined
        ? undefined
        : {
            dataDir,
            follow,
            retain: retain?.toString(),
            hashSalt: input.get(settings.hashSalt),
            verify: input.get(settings.verify),
            log,
          },
  }
}
