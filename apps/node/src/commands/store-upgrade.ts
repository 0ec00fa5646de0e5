import { type UpgradeProgress, upgradeStore } from '@ledger-state/state-engine'
import type { Command } from '../config/command.js'
import { textOption } from '../config/option.js'
import { settings } from '../config/settings.js'
import { stoppedBy } from '../errors.js'
import { formatCount, formatDuration, formatShare } from '../terminal/amounts.js'
import { createProgressLine } from '../terminal/progress-line.js'
import { listenForStop } from '../terminal/stop-signal.js'

const toOption = textOption('to', 'NEW', 'folder of the copy; it must not hold a store')

const STEPS: Readonly<Record<UpgradeProgress['step'], { readonly doing: string; readonly what: string }>> = {
  pages: { doing: 'checking the store', what: 'pages' },
  state: { doing: 'copying the oldest state', what: 'keys' },
  versions: { doing: 'copying the versions after it', what: 'writes' },
  check: { doing: 'checking the copy', what: 'records' },
  comparison: { doing: 'comparing the copy with the store', what: 'keys' },
}

export const storeUpgradeCommand: Command = {
  name: 'store upgrade',
  summary: 'Copies a store that an older program wrote into another folder, in the layout of this one.',
  details: `No writer may have the store open; it is only read. The copy is checked and compared with it, and becomes a store at the
end. SIGINT and SIGTERM stop it with exit status 130 or 143; the same command resumes, also after the process was killed.`,
  arguments: [],
  options: [settings.dataDir, toOption],
  required: [settings.dataDir, toOption],
  examples: ['ledger-state store upgrade --data-dir data/mainnet --to data/mainnet-4'],
  async run(input) {
    const from = input.required(settings.dataDir)
    const to = input.required(toOption)
    const began = performance.now()
    const stop = listenForStop()
    const onProgress = createUpgradeProgress()
    try {
      const { oldestVersion, latestVersion } = await upgradeStore(from, to, { onProgress, signal: stop.signal })
      onProgress.finish()
      const duration = formatDuration((performance.now() - began) / 1_000)
      process.stdout.write(
        `${to} holds versions ${oldestVersion} to ${latestVersion}, as ${from}; it took ${duration}\n`,
      )
    } catch (error) {
      onProgress.finish()
      const signal = stop.by()
      if (signal && error === stop.signal.reason) {
        throw stoppedBy(signal, `${to} is not a store yet; run the same command again to resume`)
      }
      throw error
    }
  },
}

/** A line of its own for each step, so that the time left is that of the step. */
function createUpgradeProgress(): ((progress: UpgradeProgress) => void) & { finish(): void } {
  let line = createProgressLine(process.stderr)
  let current: UpgradeProgress['step'] | undefined
  const show = ({ step, done, total }: UpgradeProgress): void => {
    if (step !== current) {
      line.finish()
      line = createProgressLine(process.stderr)
      current = step
      process.stderr.write(`${STEPS[step].doing}\n`)
    }
    const { doing, what } = STEPS[step]
    line.update((seconds) => {
      const amount = `${formatCount(done)} ${what}`
      if (total === undefined) return `${doing}: ${amount}`
      return `${doing}: ${formatCount(done)} of ${formatCount(total)} ${what}, ${formatShare(done, total, seconds)}`
    })
  }
  return Object.assign(show, { finish: () => line.finish() })
}
