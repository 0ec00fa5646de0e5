// The whole page in a document of happy-dom, over a real node with a ledger in memory.
import type { StateEngineReader } from '@ledger-state/engine'
import { createEngineChanges } from '@ledger-state/http'
import { type RunningServer, startServerOver, stopServer } from '@ledger-state/http/testing/one-item-server'
import { eventually } from '@ledger-state/testing/eventually'
import { Window } from 'happy-dom'
import { expect } from 'vitest'
import type { OpenApiDocument } from '../src/api/open-api.ts'
import { createPageEngine } from './page-ledger.ts'
import { undeclaredParameters } from './undeclared-parameters.ts'

const ORIGIN = 'http://page.test'
/** Members of a browser's window that the page and its libraries use by their plain names. */
const GLOBALS = [
  'document',
  'navigator',
  'localStorage',
  'Element',
  'HTMLElement',
  'SVGElement',
  'Node',
  'Text',
  'Event',
  'CustomEvent',
  'MouseEvent',
  'KeyboardEvent',
  'IntersectionObserver',
  'ResizeObserver',
  'getComputedStyle',
  'matchMedia',
  'devicePixelRatio',
  'requestAnimationFrame',
  'cancelAnimationFrame',
] as const

const fetchOfNode = globalThis.fetch

/** The document stays for all test files of a worker, because the modules of the page stay, too. */
export function installWindow(): Window {
  const known: unknown = Reflect.get(globalThis, 'window')
  if (known instanceof Window) return known
  const window = new Window({ url: ORIGIN, width: 1_440, height: 900 })
  for (const name of GLOBALS) {
    const member: unknown = Reflect.get(window, name)
    // A function that is no class runs on its window.
    const isClass = typeof member === 'function' && /^[A-Z]/.test(name)
    const value = typeof member === 'function' && !isClass ? member.bind(window) : member
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true })
  }
  Object.defineProperty(globalThis, 'window', { value: window, configurable: true, writable: true })
  // happy-dom does not draw. A real browser draws the curves in the slow tests of apps/node.
  const nothing: unknown = new Proxy(() => nothing, {
    get: (_, name) => (name === Symbol.toPrimitive ? () => 0 : nothing),
  })
  Object.assign(window.HTMLCanvasElement.prototype, { getContext: () => nothing })
  Object.defineProperty(globalThis, 'Path2D', { value: class {}, configurable: true })
  return window
}

type Answering = 'sound' | 'late' | 'busy' | 'lost' | 'failed'

export class PageBed {
  readonly #window: Window
  readonly #server: RunningServer
  readonly #document: OpenApiDocument
  /** Requests with query parameters that their operations do not declare. */
  readonly #undeclared: string[] = []
  #answering: Answering = 'sound'
  #refused: string | undefined
  #failing: RegExp | undefined
  #busy: RegExp | undefined
  #mostItems: number | undefined
  #held: { readonly paths: RegExp; readonly until: Promise<void> } | undefined
  #open = 0
  #release: () => void = () => {}
  #released = Promise.resolve()
  #unmount: () => void = () => {}

  private constructor(window: Window, server: RunningServer, document: OpenApiDocument) {
    this.#window = window
    this.#server = server
    this.#document = document
    globalThis.fetch = (input, init) => this.#fetch(String(input), init)
  }

  /** Starts a node with its stream, by default with the small ledger. */
  static async open(given?: StateEngineReader): Promise<PageBed> {
    const engine = given ?? (await createPageEngine())
    const server = await startServerOver(engine, { changes: createEngineChanges(engine) })
    const document = await fetchOfNode(`http://127.0.0.1:${server.port}/v1/spec.json`)
    return new PageBed(installWindow(), server, (await document.json()) as OpenApiDocument)
  }

  /** Ends the page and its node, and expects that the page sent only parameters that the API declares. */
  async close(): Promise<void> {
    this.leave()
    globalThis.fetch = fetchOfNode
    await stopServer(this.#server)
    expect(this.#undeclared).toEqual([])
  }

  /** Sets how the node answers. Held answers continue once it is no longer `late`. */
  answers(how: Answering): void {
    this.#answering = how
    if (how === 'late') {
      this.#released = new Promise((resolve) => {
        this.#release = resolve
      })
    } else this.#release()
  }

  /** Lets the node fail at requests whose path and query match, until the page is drawn again. */
  failsAt(paths: RegExp | undefined): void {
    this.#failing = paths
  }

  /** Lets the node be busy at requests whose path and query match, until the page is drawn again. */
  busyAt(paths: RegExp | undefined): void {
    this.#busy = paths
  }

  /**
   * Holds the answers to requests whose path and query match, until the page is drawn again.
   * @returns lets them go, once the node has answered all other requests
   */
  holdsAt(paths: RegExp): () => Promise<void> {
    let release: () => void = () => {}
    this.#held = { paths, until: new Promise((resolve) => (release = resolve)) }
    return async () => {
      await eventually(
        () => this.#open === 0,
        () => `an answer to the ${this.#open} requests that are not held`,
      )
      release()
      this.#held = undefined
    }
  }

  /** Makes the node refuse requests with this text in their path, as it does if they would take too much work. */
  refuses(text: string): void {
    this.#refused = text
  }

  /** Sets how many items a page of a list has at most. */
  limitsPages(mostItems: number): void {
    this.#mostItems = mostItems
  }

  async #fetch(path: string, init: RequestInit | undefined): Promise<Response> {
    const undeclared = undeclaredParameters(this.#document, init?.method ?? 'GET', path.replace(/^\/v1/, ''))
    if (undeclared.length > 0) this.#undeclared.push(`${path}: ${undeclared}`)
    if (this.#answering === 'late') await this.#released
    if (this.#answering === 'lost') throw new TypeError('fetch failed')
    const error = (status: number, code: string) =>
      Response.json({ message: `it says ${code}`, error_code: code }, { status, headers: { 'retry-after': '1' } })
    if (this.#answering === 'busy' || this.#busy?.test(path)) return error(503, 'overloaded')
    if (this.#answering === 'failed' || this.#failing?.test(path)) return error(500, 'internal_error')
    if (this.#refused !== undefined && path.includes(this.#refused)) return error(400, 'invalid_input')
    if (this.#held?.paths.test(path)) await this.#held.until
    this.#open++
    try {
      const asked = this.#mostItems === undefined ? path : withLimit(path, this.#mostItems)
      return await fetchOfNode(`http://127.0.0.1:${this.#server.port}${asked}`, init)
    } finally {
      this.#open--
    }
  }

  /** Draws the page again at a path, as a browser that opens it. */
  async goTo(path: string, answering: Answering = 'sound'): Promise<void> {
    this.leave()
    this.answers(answering)
    this.#window.happyDOM.setURL(ORIGIN + path)
    const [{ render, h }, { App }, { onLinkClick, showHere }, ledger] = await Promise.all([
      import('preact'),
      import('../src/app.tsx'),
      import('../src/state/location.ts'),
      import('../src/state/ledger.ts'),
    ])
    for (const one of [ledger.newest, ledger.newestFailure, ledger.oldestTimestampUsec]) one.value = undefined
    showHere()
    const place = document.body.appendChild(document.createElement('div'))
    document.addEventListener('click', onLinkClick)
    const unfollow = ledger.followLedger()
    this.#unmount = () => {
      unfollow()
      document.removeEventListener('click', onLinkClick)
      render(null, place)
      place.remove()
    }
    render(h(App, {}), place)
  }

  /** Removes the page. */
  leave(): void {
    this.answers('sound')
    this.failsAt(undefined)
    this.busyAt(undefined)
    this.#held = undefined
    this.#unmount()
    this.#unmount = () => {}
  }

  /** Text of the view, with single spaces. */
  get text(): string {
    return (document.querySelector('main')?.textContent ?? '').replaceAll(/\s+/g, ' ')
  }

  get path(): string {
    return this.#window.location.pathname + this.#window.location.search
  }

  /** Waits until the view shows all of these texts. */
  async shows(...texts: readonly (string | RegExp)[]): Promise<void> {
    const isShown = (text: string | RegExp) =>
      typeof text === 'string' ? this.text.includes(text) : text.test(this.text)
    await eventually(
      () => texts.every(isShown),
      () => `${texts.filter((one) => !isShown(one)).join(', ')} at ${this.path}, which shows: ${this.text}`,
    )
  }

  /** Waits until the view shows nothing of a text. */
  async hides(text: string): Promise<void> {
    await eventually(
      () => !this.text.includes(text),
      () => `no ${text} at ${this.path}, which shows: ${this.text}`,
    )
  }

  /** Elements of the view. */
  all(selector: string): readonly HTMLElement[] {
    return [...document.querySelectorAll<HTMLElement>(`main ${selector}`)]
  }

  /** Texts of elements of the view. */
  texts(selector: string): readonly string[] {
    return this.all(selector).map((one) => (one.textContent ?? '').replaceAll(/\s+/g, ' ').trim())
  }

  /** Waits for an element with a text. */
  async find(selector: string, text: string | RegExp = ''): Promise<HTMLElement> {
    const found = () =>
      this.all(selector).find((one) =>
        typeof text === 'string' ? one.textContent?.includes(text) : text.test(one.textContent ?? ''),
      )
    await eventually(
      () => found() !== undefined,
      () => `${selector} with ${text} at ${this.path}, which shows: ${this.text}`,
    )
    return found()!
  }

  async click(selector: string, text: string | RegExp = ''): Promise<void> {
    const found = await this.find(selector, text)
    found.click()
  }

  /** Opens a part of the view that is folded. */
  async unfold(text: string): Promise<void> {
    const summary = await this.find('summary', text)
    const details = summary.closest('details') as HTMLDetailsElement
    details.open = true
    details.dispatchEvent(new Event('toggle'))
  }

  /** Writes into a field as a visitor does. */
  async fill(label: string, text: string): Promise<void> {
    const field = (await this.find(`[aria-label="${label}"]`)) as HTMLInputElement
    field.value = text
    field.dispatchEvent(new Event('input', { bubbles: true }))
  }

  /** Waits until the document has a title. */
  async titled(title: string): Promise<void> {
    await eventually(
      () => document.title === title,
      () => `the title ${title}; it is ${document.title}`,
    )
  }

  /** Waits until the time machine shows a text. */
  async timeMachineShows(text: string): Promise<void> {
    const shown = () => document.querySelector('.time-machine')?.textContent ?? ''
    await eventually(
      () => shown().includes(text),
      () => `${text} in the time machine, which shows: ${shown()}`,
    )
  }

  /** Waits until the notice about a lost node, which keeps the view, has a text. */
  async waitingShows(text: string): Promise<void> {
    const shown = () => (document.querySelector('.waiting')?.textContent ?? '').replaceAll(/\s+/g, ' ')
    await eventually(
      () => (text === '' ? shown() === '' : shown().includes(text)),
      () => `${text} in the notice, which shows: ${shown()}`,
    )
  }

  /** Goes to a version, time or block with the time machine. */
  async moveTo(moment: string): Promise<void> {
    const form = document.querySelector<HTMLFormElement>('.moment-form')!
    const field = form.querySelector('input')!
    field.value = moment
    field.dispatchEvent(new Event('input', { bubbles: true }))
    const button = form.querySelector('button')!
    await eventually(
      () => !button.disabled,
      () => `${moment} to be a moment`,
    )
    button.click()
  }
}

/** The path with another limit, if it is of a list. */
function withLimit(path: string, limit: number): string {
  if (/[?&]limit=/.test(path)) return path.replace(/([?&]limit=)\d+/, `$1${limit}`)
  return /\/changes\?/.test(path) ? `${path}&limit=${limit}` : path
}
