// A browser, and a folder for stores that a test fills and shows; both are gone when the test ends.
import { type Browser, openBrowser } from '@ledger-state/explorer/testing/browser'
import { openStateEngine, type StateEngine } from '@ledger-state/state-engine'
import { CommandBed } from './command-bed.ts'

export class BrowserBed extends CommandBed {
  readonly browser: Browser

  private constructor(browser: Browser) {
    super()
    this.browser = browser
  }

  static async open(): Promise<BrowserBed> {
    return new BrowserBed(await openBrowser())
  }

  /** Fills a store and serves it. Resolves with the address of the node. */
  async serveStore(fill: (engine: StateEngine) => Promise<void>): Promise<string> {
    const engine = openStateEngine({ path: this.at('store') })
    await fill(engine)
    await engine.close()
    return (await this.serve('serve', '--data-dir', 'store')).address
  }

  override async close(): Promise<void> {
    await this.browser.close()
    await super.close()
  }
}
