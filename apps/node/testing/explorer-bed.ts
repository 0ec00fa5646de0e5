// The real program on the demonstration ledger, with a real browser.
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  type Browser,
  type BrowserContextOptions,
  openBrowser,
  type Page,
  type Request,
} from '@ledger-state/explorer/testing/browser'
import { PATIENCE_MS } from '@ledger-state/testing/eventually'
import { expect } from 'vitest'
import { CommandBed } from './command-bed.ts'

export type { Page } from '@ledger-state/explorer/testing/browser'

export const ARCHIVE = 'https://archive.example/v1'
export const APT = '0x1::aptos_coin::AptosCoin'

export const WIDE_LIGHT = { viewport: { width: 1_440, height: 900 }, colorScheme: 'light' } as const
export const WIDE_DARK = { ...WIDE_LIGHT, colorScheme: 'dark' } as const
export const NARROW_LIGHT = { viewport: { width: 360, height: 760 }, colorScheme: 'light' } as const
export const NARROW_DARK = { ...NARROW_LIGHT, colorScheme: 'dark' } as const

const SCREENSHOTS = fileURLToPath(new URL('../../explorer/screenshots/', import.meta.url))

export interface ExplorerView {
  readonly name: string
  readonly path: string
  /** Text that the view has once it is drawn. */
  readonly text: string | RegExp
}

/** Each view of the page, on the demonstration ledger. */
export const EXPLORER_VIEWS: readonly ExplorerView[] = [
  { name: 'home', path: '/', text: 'Where to begin' },
  {
    name: 'account',
    path: '/account/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab',
    text: 'Bean',
  },
  {
    name: 'resources',
    path: '/account/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab/resources',
    text: 'last changed at version',
  },
  { name: 'modules', path: '/account/0x1/modules', text: 'fungible_asset' },
  {
    name: 'changes',
    path: '/account/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab/changes',
    text: 'sequence_number',
  },
  {
    name: 'balance',
    path: `/balance/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab/${APT}?point=2973`,
    text: 'since version',
  },
  {
    name: 'resource',
    path: '/resource/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab/0x1::coin::CoinStore%3C0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15::bean::Bean%3E',
    text: 'coin.value',
  },
  {
    name: 'module',
    path: '/module/0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15/harbour',
    text: 'struct Harbour',
  },
  {
    name: 'table',
    path: '/table/0x7ab1e2?holder=0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15',
    text: 'draught_millimetres',
  },
  {
    name: 'item',
    path: `/table/0x7ab1e2?holder=0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15&key=${encodeURIComponent('{"place":6,"quay":1}')}`,
    text: 'Look at this version',
  },
  {
    name: 'view',
    path: '/view/0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15::market::quote?arguments=%5B%221000000%22%5D',
    text: /\d+ changes/,
  },
  { name: 'asset', path: '/asset/0xa', text: /\d+ holders, the largest first/ },
  {
    name: 'activities',
    path: '/account/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab/activities',
    text: 'Changes of its holdings',
  },
  {
    name: 'transactions',
    path: '/account/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab/transactions',
    text: 'This node does not serve it',
  },
  {
    name: 'objects',
    path: '/account/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab/objects',
    text: 'token::Token',
  },
  { name: 'block', path: '/block/200', text: /Compared: \d+ addresses, .+ tables?\./ },
  { name: 'api', path: '/api/get_account', text: 'sequence number' },
]

/** Views that have nothing to show. */
export const EMPTY_VIEWS: readonly ExplorerView[] = [
  {
    name: 'past',
    path: '/account/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab?at=1500',
    text: 'Bean',
  },
  {
    name: 'pruned',
    path: '/account/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab?at=5',
    text: 'No longer kept',
  },
  {
    name: 'absent',
    path: '/resource/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab/0x1::no::Such',
    text: 'Not there',
  },
  {
    name: 'future',
    path: '/account/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab?at=999999',
    text: 'Not there yet',
  },
  { name: 'unknown', path: '/nothing/here', text: 'There is no such page' },
]

export class ExplorerBed {
  readonly commands: CommandBed
  readonly browser: Browser
  readonly address: string
  readonly admin: string
  /** The link with which the output of `start` ends. */
  readonly link: string
  /** Events that must not occur on any page. */
  readonly #faults: string[] = []
  /** Pages with their requests that have not ended. */
  readonly #pages = new Map<Page, Set<Request>>()

  private constructor(commands: CommandBed, browser: Browser, address: string, startLines: string) {
    this.commands = commands
    this.browser = browser
    this.address = address
    this.admin = /probes are on (http:\/\/[^"\s]+)/.exec(startLines)![1]!
    this.link = /web page of the ledger: (\S+)\n/.exec(startLines)![1]!
  }

  /**
   * Starts the program and the browser.
   * @param more further options of the node
   */
  static async start(...more: readonly string[]): Promise<ExplorerBed> {
    mkdirSync(SCREENSHOTS, { recursive: true })
    const commands = new CommandBed()
    const words = ['start', '--archival-endpoint', ARCHIVE, '--admin-listen', '127.0.0.1:0', ...more]
    const [browser, { program, address }] = await Promise.all([openBrowser(), commands.serve(...words)])
    return new ExplorerBed(commands, browser, address, await program.outputMatching(/web page of the ledger: .*\n/))
  }

  async close(): Promise<void> {
    await this.browser.close()
    await this.commands.close()
  }

  /** A new page with its own context; empty until it goes somewhere. */
  async newPage(options: BrowserContextOptions = WIDE_LIGHT, host = this.address): Promise<Page> {
    const context = await this.browser.newContext({ locale: 'en-US', ...options })
    // An action that takes a second on an idle machine took 50 during the rest of CI.
    context.setDefaultTimeout(PATIENCE_MS)
    const page = await context.newPage()
    const underWay = new Set<Request>()
    this.#pages.set(page, underWay)
    page.on('pageerror', (error) => this.#faults.push(String(error)))
    page.on('console', (message) => {
      if (/Content Security Policy/.test(message.text())) this.#faults.push(message.text())
    })
    page.on('requestfinished', (request) => underWay.delete(request))
    page.on('requestfailed', (request) => underWay.delete(request))
    page.on('request', (request) => {
      // Requests of the document before are given up.
      if (request.isNavigationRequest()) underWay.clear()
      // The stream of changes ends with the page.
      if (request.resourceType() !== 'eventsource') underWay.add(request)
      if (!request.url().startsWith(host) && !request.url().startsWith('blob:')) this.#faults.push(request.url())
    })
    return page
  }

  async open(path: string, options?: BrowserContextOptions, host = this.address): Promise<Page> {
    const page = await this.newPage(options, host)
    await page.goto(host + path)
    return page
  }

  /** Waits until a view has all that it asks for, and has drawn it. */
  async settles(page: Page): Promise<void> {
    const isLoading = async () => this.#pages.get(page)!.size > 0 || (await page.locator('main .loading').count()) > 0
    for (let isSettled = false; !isSettled; isSettled = !(await isLoading())) {
      await expect.poll(isLoading).toBe(false)
      // An answer may lead to further requests.
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
    }
  }

  /** Closes all pages. Resolves with their faults: errors, requests to other hosts, violations of the policy. */
  async closePages(): Promise<readonly string[]> {
    const pages = [...this.#pages.keys()]
    this.#pages.clear()
    await Promise.all(pages.map((page) => page.context().close()))
    return this.#faults.splice(0)
  }
}

/** Waits until the page shows a text. */
export async function shows(page: Page, text: string | RegExp): Promise<void> {
  await page.locator('body', { hasText: text }).waitFor()
}

export async function mainText(page: Page): Promise<string> {
  return (await page.locator('main').textContent()) ?? ''
}

/** Number of pixels by which the page is wider than its window. */
export async function excessWidth(page: Page): Promise<number> {
  return Math.max(0, Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth')))
}

/** Takes a picture, in the folder that CI keeps. */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: `${SCREENSHOTS}${name}.png` })
}
