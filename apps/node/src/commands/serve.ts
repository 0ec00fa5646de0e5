import type { Command } from '../command-line.js'
import { parseServeSettings, serveDataDir } from '../serve-data-dir.js'
import { dataDirOption, serveOptions } from '../shared-options.js'
import { stopSignal } from '../stop-signal.js'

export const serveCommand: Command = {
  name: 'serve',
  summary: 'Serves a store over HTTP, also while another process ingests into it. An empty store answers 503.',
  arguments: [],
  options: { ...dataDirOption, ...serveOptions },
  examples: ['ledger-state serve --data-dir data/mainnet --header-word aptos'],
  async run(input) {
    const settings = parseServeSettings(input)
    await serveDataDir(input.required('data-dir'), settings, stopSignal(), (address, ledger) => {
      const { info } = ledger
      const what = info
        ? `versions ${info.oldestVersion} to ${info.latestVersion} of chain ${info.chainId}`
        : 'an empty store'
      process.stdout.write(`serving ${what} on ${address}/v1\n`)
    })
  },
}
