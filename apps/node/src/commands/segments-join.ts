import { isLedgerStateError } from '@ledger-state/core'
import { joinRanges } from '@ledger-state/replication'
import { openStateEngineReader } from '@ledger-state/state-engine'
import type { Command } from '../config/command.js'
import { readHashSalt } from '../config/hash-salt.js'
import { switchOption, textOption } from '../config/option.js'
import { settings } from '../config/settings.js'
import { usageError } from '../errors.js'
import { auditStateRoot } from '../stores/audit-state-root.js'
import { formatBytes, formatCounted, formatDuration, formatShare } from '../terminal/amounts.js'
import { writeNotice } from '../terminal/notice.js'
import { createProgressLine } from '../terminal/progress-line.js'
import { untilStop } from '../until-stop.js'

const intoOption = textOption('into', 'OUT', 'folder of the joined store; it must be empty or absent')
const stateRootOption = switchOption(
  'check-state-root',
  'compare the root of the newest state with the root in the ledger',
  true,
)

export const segmentsJoinCommand: Command = {
  name: 'segments join',
  goesOn: true,
  summary: 'Joins stores that ingest --range has filled into one store, with hard links to their files.',
  details: `The ranges must follow each other, and may be given in any order. The command compares the accumulator of the ledger at the
boundaries, verifies the checksums of all files, and computes the root of the state. Only then does the store get its
name. The joined store has no index of holdings: ledger-state index makes a copy that has one.`,
  arguments: [{ name: 'DIR', description: 'folders of the ranges', isRest: true }],
  options: [intoOption, stateRootOption, settings.hashSalt],
  required: [intoOption],
  examples: ['ledger-state segments join data/range-0 data/range-1 --into data/mainnet'],
  async run(input) {
    const folders = input.rest()
    if (folders.length === 0) throw usageError('segments join: name the folders of the ranges')
    const into = input.required(intoOption)
    const began = performance.now()
    const line = createProgressLine(process.stderr)
    try {
      const joined = await untilStop(`nothing is in ${into}; the same command begins again`, (signal) =>
        joinRanges(folders, into, {
          signal,
          onProgress: (bytes, total) =>
            line.update((seconds) => {
              const amount = `${formatBytes(bytes)} of ${formatBytes(total)}`
              return `joining: ${amount}, ${formatShare(bytes, total, seconds)}`
            }),
          verify: async (folder) => {
            line.finish()
            if (input.get(stateRootOption)) await verifyRoot(folder, readHashSalt(input), signal)
          },
        }),
      )
      const seconds = (performance.now() - began) / 1_000
      const what = `versions ${joined.firstVersion} to ${joined.lastVersion}, joined from ${formatCounted(joined.stores, 'store')}`
      process.stdout.write(`${into} holds ${what} in ${formatDuration(seconds)}\n`)
    } finally {
      line.finish()
    }
  },
}

/** @throws `state_root_differs` */
async function verifyRoot(folder: string, hashSalt: string | undefined, signal: AbortSignal): Promise<void> {
  const engine = openStateEngineReader({ path: folder })
  try {
    writeNotice(await auditStateRoot(engine, { kind: 'folder', dataDir: folder }, { hashSalt, signal }))
  } catch (error) {
    // A ledger without roots, and ranges that do not begin with the ledger.
    if (!isLedgerStateError(error, 'state_root_unknown')) throw error
    writeNotice(`the state is not verified: ${error.message}`)
  } finally {
    await engine.close()
  }
}
