import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { openStateEngineReader } from '@ledger-state/state-engine'
import type { Command } from '../config/command.js'
import { switchOption } from '../config/option.js'
import { settings } from '../config/settings.js'
import { formatBytes, formatShare } from '../terminal/amounts.js'
import { createProgressLine } from '../terminal/progress-line.js'

const compactOption = switchOption('compact', 'leave free pages out: smaller, and takes longer')

/** What the engine names a copy that is not whole yet. */
const UNFINISHED = 'state.mdb.part'
const LOOK_INTERVAL_MS = 100

export const snapshotCommand: Command = {
  name: 'snapshot',
  summary: 'Copies a store as it is now, also while it is written and served. The copy can be served.',
  arguments: [{ name: 'DIR', description: 'folder of the copy; it must not hold a store' }],
  options: [settings.dataDir, compactOption],
  required: [settings.dataDir],
  examples: ['ledger-state snapshot backup/mainnet --data-dir data/mainnet --compact'],
  async run(input) {
    const path = input.argument('DIR')
    const compact = input.get(compactOption)
    const engine = openStateEngineReader({
      path: input.required(settings.dataDir),
      verifyReads: true,
      // A compacted copy is made in the order of the keys, and not in that of the file.
      ...(!compact && { readAhead: true }),
    })
    const { fileBytes, freeBytes } = engine.stats
    const stopShowing = showGrowth(join(path, UNFINISHED), compact ? fileBytes - freeBytes : fileBytes)
    try {
      await engine.snapshot(path, { compact })
    } finally {
      stopShowing()
      await engine.close()
    }
    const copy = openStateEngineReader({ path })
    const { ledger } = copy
    await copy.close()
    const what = ledger ? `versions ${ledger.oldestVersion} to ${ledger.latestVersion}` : 'an empty store'
    process.stdout.write(`${path} holds ${what}\n`)
  },
}

/** Shows how a file grows to a size, until the function that it answers with is called. */
function showGrowth(file: string, total: number): () => void {
  const progress = createProgressLine(process.stderr)
  let isOver = false
  const show = async (): Promise<void> => {
    const size = await stat(file).then(
      (found) => found.size,
      () => 0,
    )
    if (isOver) return
    progress.update((seconds) => {
      const amount = `${formatBytes(size)} of ${formatBytes(total)}`
      return `copying: ${amount}, ${formatShare(size, total, seconds)}`
    })
  }
  void show()
  const timer = setInterval(() => void show(), LOOK_INTERVAL_MS)
  return () => {
    isOver = true
    clearInterval(timer)
    progress.finish()
  }
}
