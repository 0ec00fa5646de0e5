import type { CommandInput } from '../config/command.js'
import { type ListenAddress, settings } from '../config/settings.js'
import { usageError } from '../errors.js'
import type { FeedServerSettings } from './feed-server.js'
import type { ReaderSettings } from './reader.js'
import type { WriterSettings } from './writer.js'

/** The settings of each part of a node. */
export interface NodeSettings {
  readonly dataDir: string
  /** Whether to make an empty store where there is none. */
  readonly create: boolean
  readonly listen: ListenAddress
  /** Undefined where it is switched off. */
  readonly adminListen: ListenAddress | undefined
  readonly readers: number
  readonly drainDelayMs: number
  readonly stopTimeoutMs: number
  readonly reader: ReaderSettings
  /** Undefined where no replicas are served. */
  readonly feed: FeedServerSettings | undefined
  /** Undefined where there is nothing to write: no node to follow, and no window to keep. */
  readonly writer: WriterSettings | undefined
}

/** @throws `usage` where settings contradict each other */
export function nodeSettings(input: CommandInput, dataDir: string, defaultRetain?: bigint): NodeSettings {
  const output = { json: input.get(settings.json), bcs: input.get(settings.bcs) }
  if (!output.json && !output.bcs) throw usageError('--no-json and --no-bcs together leave nothing to answer with')
  const log = { level: input.get(settings.logLevel), format: input.get(settings.logFormat) }
  const stopTimeoutMs = input.get(settings.stopTimeout)
  const follow = followedUrl(input)
  const serveFeed = input.get(settings.serveFeed)
  const retain = input.get(settings.retain) ?? defaultRetain
  return {
    dataDir,
    create: follow !== undefined || input.get(settings.create),
    listen: input.get(settings.listen),
    adminListen: input.get(settings.adminListen),
    readers: input.get(settings.readers),
    drainDelayMs: input.get(settings.drainDelay),
    stopTimeoutMs,
    reader: {
      dataDir,
      headerWord: input.get(settings.headerWord),
      output,
      archivalEndpoint: input.get(settings.archivalEndpoint),
      explorer: input.get(settings.explorer),
      bodyLimitBytes: input.get(settings.bodyLimit),
      maxConnections: input.get(settings.maxConnections),
      maxRequestsInFlight: input.get(settings.maxRequestsInFlight),
      requestTimeoutMs: input.get(settings.requestTimeout),
      idleTimeoutMs: input.get(settings.idleTimeout),
      stopTimeoutMs,
      log,
    },
    feed: serveFeed && { dataDir, listen: serveFeed, log },
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

/** A replica follows its source as any follower does. @throws `usage` where two sources are named */
function followedUrl(input: CommandInput): string | undefined {
  const [follow, replicaOf] = [input.get(settings.follow), input.get(settings.replicaOf)]
  if (follow !== undefined && replicaOf !== undefined)
    throw usageError('--follow and --replica-of name two sources: a store has one')
  return follow ?? replicaOf
}
