import { isLedgerStateError } from '@ledger-state/core'
import type { AsyncStateReader, StateEngineReader } from '@ledger-state/engine'
import { checkEndings } from '@ledger-state/feed'
import { readEpochEndings, rejectUnsigned } from '@ledger-state/ingest'
import { decodeCommitMark } from '@ledger-state/records'
import type { Command, CommandInput } from '../config/command.js'
import { readHashSalt } from '../config/hash-salt.js'
import { defaultedOption, wholeNumber } from '../config/option.js'
import { settings } from '../config/settings.js'
import { noLedgerErrors, untrusted } from '../errors.js'
import { keepTree, treeFolderOf } from '../stores/keep-tree.js'
import { openReader } from '../stores/open-reader.js'
import { openWriter } from '../stores/open-writer.js'
import { nameOfPlace, type StorePlace, storeOptions, storePlace } from '../stores/store-place.js'
import { formatCounted } from '../terminal/amounts.js'
import { createProgressLine } from '../terminal/progress-line.js'
import { untilAborted, untilStop } from '../until-stop.js'

const keptOption = defaultedOption('keep', 'N', 'number of trees to keep, the newest ones', '1', wholeNumber(1, 100))

export const trustCheckCommand: Command = {
  name: 'trust check',
  summary: 'Verifies the epoch changes of a store again from a waypoint, signature by signature.',
  details: `A store keeps the epoch changes that verify it. The first epoch change has the waypoint; each further epoch change is signed by the
validators that the previous one names. Without --waypoint, the command uses the waypoint with which the store was made. Give the
waypoint that the network publishes, so that you need not trust whoever made the store.`,
  arguments: [],
  options: [...storeOptions, settings.network, settings.waypoints, settings.hashSalt],
  examples: [
    'ledger-state trust check --data-dir data/mainnet',
    'ledger-state trust check --waypoint "$(cat waypoint.txt)" --data-dir data/mainnet',
  ],
  async run(input) {
    const place = storePlace(input, 'trust check')
    const left = 'the rest of the epoch changes was not verified; the same command begins again'
    await untilStop(left, (signal) => checkTrust(place, input, signal))
  },
}

async function checkTrust(place: StorePlace, input: CommandInput, signal: AbortSignal): Promise<void> {
  const engine = await openReader(place)
  try {
    const { ledger, mark } = engine.kind === 'sync' ? engine : await engine.snapshot()
    if (!ledger) throw noLedgerErrors.emptyStore(nameOfPlace(place))
    const given = input.get(settings.waypoints) ?? input.get(settings.network)?.waypoints ?? []
    const { signed, hashSalt } = decodeCommitMark(mark)
    const waypoints = given.length > 0 || !signed ? given : [signed.waypoint]
    if (waypoints.length === 0) throw untrusted.noWaypoint(nameOfPlace(place))
    const salt = readHashSalt(input) ?? hashSalt
    const endings = untilAborted(bytesOfEndings(engine), signal)
    const checked = await checkEndings(endings, waypoints, salt).catch((error: unknown) => {
      if (salt !== undefined || !isLedgerStateError(error, 'untrusted')) throw error
      throw untrusted.saltUnknown(nameOfPlace(place), error)
    })
    if (!checked.epochs) throw untrusted.noEndings(nameOfPlace(place))
    const [first, last] = checked.epochs
    const what = `${formatCounted(checked.count, 'epoch change')}, ${first} to ${last}`
    process.stdout.write(`sound: ${what}, are verified from the waypoint ${waypoints.join(' or ')}\n`)
  } finally {
    await engine.close()
  }
}

export const trustKeepTreeCommand: Command = {
  name: 'trust keep-tree',
  goesOn: true,
  summary: 'Builds the state tree of the newest signed checkpoint, from which a node proves its answers.',
  details: `A store keeps signed checkpoints: signatures for the state at the end of a block. With the tree of that state, about 67 bytes per key on disk, a
node can answer \`?proof=true\` at that version. The command builds the tree even while a node serves the store, and compares its root with the
signed root, as \`check --state-root\` does. A running node starts to use the tree by itself.`,
  arguments: [],
  options: [...storeOptions, keptOption, settings.treeDir, settings.network, settings.hashSalt],
  examples: ['ledger-state trust keep-tree --data-dir data/mainnet'],
  async run(input) {
    const place = storePlace(input, 'trust keep-tree')
    await untilStop('there is no new tree; the same command begins again', async (signal) => {
      const engine = await openReader(place)
      try {
        const { ledger } = engine.kind === 'sync' ? engine : await engine.snapshot()
        if (!ledger) throw noLedgerErrors.emptyStore(nameOfPlace(place))
        const folder = treeFolderOf(place, input.get(settings.treeDir))
        const kept = input.get(keptOption)
        const line = createProgressLine(process.stderr)
        const options = { kept, folder, hashSalt: readHashSalt(input), line, signal }
        process.stdout.write(`${await keepTree(engine, place, options)}\n`)
      } finally {
        await engine.close()
      }
    })
  },
}

async function* bytesOfEndings(engine: StateEngineReader | AsyncStateReader): AsyncGenerator<Uint8Array> {
  for await (const { bytes } of readEpochEndings(engine)) yield bytes
}

export const trustRejectUnsignedCommand: Command = {
  name: 'trust reject-unsigned',
  goesOn: true,
  summary: 'Permanently removes all versions that no validators signed.',
  details: `Use this if the ledger of a store differs from the signed ledger, because the versions above the newest signed version came from a faulty
node. First stop the node that writes to the store. Afterwards ingest a signed source, or follow another node.`,
  arguments: [],
  options: [...storeOptions],
  examples: ['ledger-state trust reject-unsigned --data-dir data/mainnet'],
  async run(input) {
    const place = storePlace(input, 'trust reject-unsigned')
    const engine = await openWriter(place, { create: false })
    try {
      const { signedVersion, before } = await rejectUnsigned(engine)
      const what =
        before > signedVersion ? `versions ${signedVersion + 1n} to ${before} are removed` : 'everything is signed'
      process.stdout.write(`${what}; the newest version is ${signedVersion}\n`)
    } finally {
      await engine.close()
    }
  },
}
