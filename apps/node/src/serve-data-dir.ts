import { once } from 'node:events'
import { LedgerStateError } from '@ledger-state/core'
import { createHttpServer } from '@ledger-state/http'
import { createLedger, type Ledger } from '@ledger-state/ledger'
import { openStateEngine, openStateEngineReader } from '@ledger-state/state-engine'
import { type CommandInput, type ListenAddress, parseListenAddress, parseRetain, usageError } from './command-line.js'
import { type Follower, followSource } from './follow-source.js'

export interface ServeSettings {
  readonly listen: ListenAddress
  readonly headerWord: string
  readonly retain: bigint | undefined
  readonly archivalEndpoint: string | undefined
  readonly output: { readonly json: boolean; readonly bcs: boolean }
  /** A node whose versions are taken in as they come, and how. */
  readonly follow: { readonly url: string; readonly options: readonly string[] } | undefined
}

export function parseServeSettings(input: CommandInput): ServeSettings {
  const headerWord = (input.option('header-word') ?? 'svc').toLowerCase()
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(headerWord)) {
    throw usageError(`--header-word: ${JSON.stringify(headerWord)} is no word of letters, digits and hyphens`)
  }
  const output = { json: !input.flag('no-json'), bcs: !input.flag('no-bcs') }
  if (!output.json && !output.bcs) throw usageError('--no-json and --no-bcs together leave nothing to answer with')
  const archivalEndpoint = input.option('archival-endpoint')
  if (archivalEndpoint !== undefined && !/^https?:\/\/[^/?#]+(\/[^?#]*)?\/v1$/.test(archivalEndpoint)) {
    throw usageError(`--archival-endpoint: ${JSON.stringify(archivalEndpoint)} is no absolute URL that ends in /v1`)
  }
  const follow = input.option('follow')
  if (follow !== undefined && !/^https?:\/\/./.test(follow)) {
    throw usageError(`--follow: ${JSON.stringify(follow)} is no URL of a node, such as https://node.example/v1`)
  }
  return {
    archivalEndpoint,
    follow: follow === undefined ? undefined : { url: follow, options: followOptions(input) },
    listen: parseListenAddress(input.option('listen') ?? '127.0.0.1:8080'),
    headerWord,
    retain: parseRetain(input),
    output,
  }
}

/** What the follower is told, as it was told here. */
function followOptions(input: CommandInput): string[] {
  const options: string[] = []
  for (const name of ['retain', 'hash-salt'] as const) {
    const value = input.option(name)
    if (value !== undefined) options.push(`--${name}`, value)
  }
  return input.flag('no-verify') ? [...options, '--no-verify'] : options
}

/**
 * Serves the store of a folder until the signal is aborted. The store is opened for reading only: another process may
 * ingest into it meanwhile, and its commits are served as they come. A window to keep is pruned to before.
 */
export async function serveDataDir(
  dataDir: string,
  settings: ServeSettings,
  signal: AbortSignal,
  onListening: (address: string, ledger: Ledger) => void,
): Promise<void> {
  await prepareStore(dataDir, settings.retain)
  const engine = openStateEngineReader({ path: dataDir })
  const ledger = createLedger(engine)
  const server = createHttpServer({
    ledger,
    headerWord: settings.headerWord,
    output: settings.output,
    ...(settings.archivalEndpoint !== undefined && { archivalEndpoint: settings.archivalEndpoint }),
    onUnexpectedError: (error, { method, url }) => {
      process.stderr.write(`${method} ${url} failed: ${error instanceof Error ? error.stack : String(error)}\n`)
    },
  })
  let follower: Follower | undefined
  try {
    const address = await server.listen(settings.listen).catch((error: NodeJS.ErrnoException) => {
      throw listenError(error, settings.listen)
    })
    onListening(address, ledger)
    if (settings.follow) follower = followSource(settings.follow.url, dataDir, settings.follow.options)
    if (!signal.aborted) await once(signal, 'abort')
  } finally {
    await Promise.all([server.close(), follower?.stop()])
    await engine.close()
  }
}

/** Makes the store where there is none, so that it can be served empty, and prunes it where a window is given. */
async function prepareStore(dataDir: string, retain: bigint | undefined): Promise<void> {
  if (retain === undefined && storeExists(dataDir)) return
  const engine = openStateEngine({ path: dataDir })
  try {
    if (retain !== undefined && engine.ledger) await engine.prune(retain)
  } finally {
    await engine.close()
  }
}

function storeExists(dataDir: string): boolean {
  try {
    void openStateEngineReader({ path: dataDir }).close()
    return true
  } catch (error) {
    if (error instanceof LedgerStateError && error.code === 'store_missing') return false
    throw error
  }
}

function listenError(error: NodeJS.ErrnoException, { host, port }: ListenAddress): LedgerStateError {
  const why =
    error.code === 'EADDRINUSE' ? 'the address is in use; choose another with --listen HOST:PORT' : error.message
  return new LedgerStateError('invalid_argument', `cannot listen on ${host}:${port}: ${why}`, {}, { cause: error })
}
