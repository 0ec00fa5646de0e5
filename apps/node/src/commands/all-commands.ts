import type { Command } from '../config/command.js'

/**
 * Loaders of commands. Each command is loaded only when it is asked for: most need a small part of the program, and
 * begin in half the time.
 */
const LOADERS: Readonly<Record<string, () => Promise<Command>>> = {
  start: async () => (await import('./start.js')).startCommand,
  ingest: async () => (await import('./ingest.js')).ingestCommand,
  serve: async () => (await import('./serve.js')).serveCommand,
  info: async () => (await import('./info.js')).infoCommand,
  'get table-item': async () => (await import('./get.js')).getTableItemCommand,
  'get raw-item': async () => (await import('./get.js')).getRawItemCommand,
  'get balance': async () => (await import('./get.js')).getBalanceCommand,
  'get resource': async () => (await import('./get.js')).getResourceCommand,
  'get module': async () => (await import('./get.js')).getModuleCommand,
  'get account': async () => (await import('./get.js')).getAccountCommand,
  'get balances': async () => (await import('./get-holdings.js')).getBalancesCommand,
  'get objects': async () => (await import('./get-holdings.js')).getObjectsCommand,
  'get holders': async () => (await import('./get-holdings.js')).getHoldersCommand,
  'get tokens': async () => (await import('./get-holdings.js')).getTokensCommand,
  view: async () => (await import('./view.js')).viewCommand,
  'history balance': async () => (await import('./history.js')).balanceHistoryCommand,
  'history resource': async () => (await import('./history.js')).resourceHistoryCommand,
  'history table-item': async () => (await import('./history.js')).tableItemHistoryCommand,
  'history account': async () => (await import('./history-account.js')).accountHistoryCommand,
  prune: async () => (await import('./prune.js')).pruneCommand,
  index: async () => (await import('./index-store.js')).indexCommand,
  check: async () => (await import('./check.js')).checkCommand,
  networks: async () => (await import('./networks.js')).networksCommand,
  'trust check': async () => (await import('./trust.js')).trustCheckCommand,
  'trust keep-tree': async () => (await import('./trust.js')).trustKeepTreeCommand,
  'trust reject-unsigned': async () => (await import('./trust.js')).trustRejectUnsignedCommand,
  snapshot: async () => (await import('./snapshot.js')).snapshotCommand,
  'segments push': async () => (await import('./segments-share.js')).segmentsPushCommand,
  'segments fetch': async () => (await import('./segments-share.js')).segmentsFetchCommand,
  'segments verify': async () => (await import('./segments-share.js')).segmentsVerifyCommand,
  'segments join': async () => (await import('./segments-join.js')).segmentsJoinCommand,
  'store create': async () => (await import('./store-create.js')).storeCreateCommand,
  export: async () => (await import('./export.js')).exportCommand,
  config: async () => (await import('./config.js')).configCommand,
}

export const COMMAND_NAMES: readonly string[] = Object.keys(LOADERS)

/** The command that the first word or the first two words name, and the words after its name. */
export async function findCommand(
  words: readonly string[],
): Promise<{ readonly command: Command; readonly rest: readonly string[] } | undefined> {
  for (const length of [2, 1]) {
    const load = LOADERS[words.slice(0, length).join(' ')]
    if (load) return { command: await load(), rest: words.slice(length) }
  }
  return undefined
}

export async function loadAllCommands(): Promise<readonly Command[]> {
  return await Promise.all(Object.values(LOADERS).map((load) => load()))
}
