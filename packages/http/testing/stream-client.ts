// A client of a random stream that compares each event with the model.
import { isDeepStrictEqual } from 'node:util'
import type { Random } from '@ledger-state/testing/random'
import { type EventStream, openEventStream, type ServerSentEvent } from './event-stream.ts'
import type { MadeVersion, StreamFilter, StreamLedger } from './stream-ledger.ts'

/** A place in the stream: the client has everything up to a version of a branch. */
interface Place {
  readonly version: bigint
  readonly branch: number
}

/** Where a client begins that has no place yet, as the parameter `from`. */
type Begin =
  | { readonly kind: 'now' }
  | { readonly kind: 'version'; readonly first: bigint }
  | { readonly kind: 'time'; readonly timestampUsec: bigint }

interface Request {
  readonly id: string | undefined
  readonly from: string | undefined
  readonly begin: Begin | undefined
  /** The ledger when the request was sent. */
  readonly branch: number
  readonly latest: bigint
  readonly oldest: bigint
}

export class StreamClient {
  readonly #ledger: StreamLedger
  readonly #filter: StreamFilter
  readonly #random: Random
  #place: Place | undefined
  #stream: EventStream | undefined
  /** The request whose first event is still to come. */
  #request: Request | undefined
  /** Events so far, for messages. */
  readonly #log: string[] = []
  /** How often the client started over, because its place was gone. */
  restarts = 0
  readonly events = new Map<string, number>()

  constructor(ledger: StreamLedger, filter: StreamFilter, random: Random) {
    this.#ledger = ledger
    this.#filter = filter
    this.#random = random
  }

  /** Whether the client knows that it has everything. */
  get isDone(): boolean {
    const { latest, branch } = this.#ledger
    return !this.#request && this.#place?.version === latest && this.#place.branch === branch
  }

  /** Takes part in a stream: connects if needed, and takes the next event. */
  async read(url: string): Promise<void> {
    if (!this.#stream && !(await this.#open(url))) return
    const stream = this.#stream!
    const event = await stream.next()
    if (this.#stream !== stream) return
    if (!event) {
      this.#log.push('end')
      this.leave()
    } else if (event.id !== undefined) this.#take(event)
  }

  leave(): void {
    this.#stream?.close()
    this.#stream = undefined
    this.#request = undefined
  }

  /** Forgets the place, to begin anywhere. */
  restart(): void {
    this.leave()
    this.#place = undefined
    this.#log.push('restart')
  }

  async #open(url: string): Promise<boolean> {
    const { branch, latest, oldest } = this.#ledger.committed
    const place = this.#place
    const begin = place ? undefined : this.#randomBegin()
    const from = begin && fromOf(begin)
    const id = place && `${place.version}.${place.branch}`
    const request: Request = { id, from, begin, branch, latest, oldest }
    const query = [this.#filter.query, from === undefined ? '' : `from=${from}`].filter((part) => part !== '').join('&')
    this.#log.push(`open ${query} after ${id} at ${latest}.${branch}, oldest ${oldest}`)
    const stream = await openEventStream(`${url}?${query}`, id).catch(() => undefined)
    if (!stream) {
      // The kept connection was too old.
      this.#log.push('no connection')
      return false
    }
    this.#log.push(`${stream.status}`)
    if (stream.status === 200) {
      this.#stream = stream
      this.#request = request
      return true
    }
    if (stream.status === 410) {
      if (!this.#mayBePruned(request)) this.#fail(`410: ${await stream.text()}`)
      await stream.text()
      this.restarts++
      this.restart()
    } else if (stream.status === 404) {
      const isAbove = begin?.kind === 'version' && begin.first > latest + 1n
      // A truncation came in between.
      const wasAbove = begin?.kind === 'version' && this.#ledger.branch > branch
      if (!isAbove && !wasAbove) this.#fail(`404: ${await stream.text()}`)
      await stream.text()
      this.restart()
    } else this.#fail(`${stream.status}: ${await stream.text()}`)
    return false
  }

  /** Whether a request may find its place gone: from the ledger when it was sent up to the one of now. */
  #mayBePruned({ begin, branch }: Request): boolean {
    const { oldest } = this.#ledger
    if (begin?.kind === 'version') return begin.first - 1n < oldest
    if (begin?.kind === 'time') {
      return this.#branchesSince(branch).some(
        (one) => lastBefore(this.#ledger.versionsOf(one), begin.timestampUsec) < oldest,
      )
    }
    return begin?.kind !== 'now' && this.#isPlacePruned
  }

  /** Whether the next version of the client is pruned, or the one after a truncation of its branch. */
  get #isPlacePruned(): boolean {
    const { oldest, branch } = this.#ledger
    const { version, branch: known } = this.#place!
    return [version, ...this.#ledger.leftsBetween(known, branch)].some((left) => left < oldest)
  }

  #branchesSince(branch: number): number[] {
    return Array.from({ length: this.#ledger.branch - branch + 1 }, (_, at) => branch + at)
  }

  #take(event: ServerSentEvent): void {
    const kind = event.event === 'message' && event.data === '' ? 'id' : event.event
    this.#log.push(`${kind} ${event.id}`)
    this.events.set(kind, (this.events.get(kind) ?? 0) + 1)
    const [version, branch] = event.id!.split('.').map(Number) as [number, number]
    const place: Place = { version: BigInt(version), branch }
    const versions = this.#ledger.versionsOf(branch)
    if (!versions?.[version]) this.#fail(`an id that the ledger never had: ${event.id}`)
    const request = this.#request
    this.#request = undefined
    if (request) this.#expectBegin(request, place, kind)
    if (kind === 'truncated') this.#expectTruncation(place, event.data)
    else this.#expectOnwards(place)
    if (kind === 'message') this.#expectEntry(versions[version]!, event.data)
    else this.#expectNothing(place)
    this.#place = place
    if (kind === 'pruned') {
      if (!this.#isPlacePruned) this.#fail('told of a prune that has not reached the next version')
      this.restarts++
      this.restart()
    } else if (kind === 'reconnect') {
      this.#fail(`told to reconnect: ${event.data}`)
    }
  }

  /** The first event of a stream says where the stream begins. */
  #expectBegin({ begin, branch, latest, oldest }: Request, place: Place, kind: string): void {
    if (kind === 'message') this.#fail('an entry before the place of the stream')
    if (!begin) return
    if (kind !== 'id') this.#fail(`${kind} at the beginning`)
    const versions = this.#ledger.versionsOf(place.branch)
    if (place.branch < branch) this.#fail('an older branch')
    if (begin.kind === 'version' && place.version !== begin.first - 1n) this.#fail(`not after ${begin.first - 1n}`)
    if (begin.kind === 'now' && place.branch === branch && place.version < latest)
      this.#fail('before the latest version')
    if (begin.kind === 'time') {
      const next = versions[Number(place.version) + 1]
      const isAfter = versions[Number(place.version)]!.timestampUsec >= begin.timestampUsec
      // The next version of the newest block may have been committed since.
      const isKnown = place.branch === branch && next !== undefined && next.version <= latest
      const isBefore = isKnown && next.timestampUsec < begin.timestampUsec
      if (isAfter || isBefore) this.#fail(`not at the time ${begin.timestampUsec}`)
    }
    if (place.version < oldest) this.#fail('below the oldest version')
    this.#place = place
  }

  /** The place moves onwards, and no newer truncation cut off versions that the client has. */
  #expectOnwards({ version, branch }: Place): void {
    const known = this.#place!
    if (branch < known.branch || version < known.version) this.#fail('back')
    const left = this.#ledger.leftsBetween(known.branch, branch).find((one) => one < known.version)
    if (left !== undefined) this.#fail(`not told of the truncation to ${left}`)
  }

  /**
   * It names the lowest version that was left. The stream may have been ahead of the last id of the client, and then
   * have been cut above it.
   */
  #expectTruncation({ version, branch }: Place, data: string): void {
    const known = this.#place!
    const lefts = this.#ledger.leftsBetween(known.branch, branch)
    const lowest = lefts.reduce((a, b) => (a < b ? a : b), known.version)
    if (!lefts.includes(version)) this.#fail(`a truncation to ${version}, none of ${lefts}`)
    if (lowest < known.version && version !== lowest) this.#fail(`a truncation to ${version}, not ${lowest}`)
    if (!isDeepStrictEqual(JSON.parse(data), { version: `${version}` })) this.#fail(`data of a truncation: ${data}`)
  }

  #expectEntry(one: MadeVersion, data: string): void {
    this.#expectNothing({ version: one.version - 1n, branch: Number(this.#log.at(-1)!.split('.')[1]) })
    if (one.version <= this.#place!.version) this.#fail('an entry again')
    const expected = this.#filter.partsOf(one)
    const entry = JSON.parse(data) as Entry
    if (entry.version !== `${one.version}`) this.#fail(`the version ${entry.version}`)
    if (entry.timestamp !== `${one.timestampUsec}`) this.#fail(`the time ${entry.timestamp}, not ${one.timestampUsec}`)
    const found = partsIn(entry)
    if (!isDeepStrictEqual(found, expected)) {
      this.#fail(`an entry with\n${found.join('\n')}\nand not\n${expected?.join('\n') ?? 'none'}`)
    }
  }

  /** No entry was left out between the last place and this one. */
  #expectNothing({ version, branch }: Place): void {
    const versions = this.#ledger.versionsOf(branch)
    for (let at = this.#place!.version + 1n; at <= version; at++) {
      if (this.#filter.partsOf(versions[Number(at)]!)) this.#fail(`the entry of ${at} is missing`)
    }
  }

  #randomBegin(): Begin {
    const { latest, oldest, branch } = this.#ledger
    const random = this.#random
    const version = BigInt(random.below(Number(latest) + 3))
    const chance = random.below(8)
    if (chance === 0) return { kind: 'now' }
    if (chance === 1) return { kind: 'version', first: version }
    if (chance < 4) {
      const { timestampUsec } = this.#ledger.versionsOf(branch)[random.below(Number(latest) + 1)]!
      return { kind: 'time', timestampUsec: timestampUsec + BigInt(random.below(3) - 1) }
    }
    return { kind: 'version', first: oldest + 1n + BigInt(random.below(Number(latest - oldest) + 1)) }
  }

  #fail(what: string): never {
    throw new Error(`a client of ?${this.#filter.query}: ${what}\n${this.#log.slice(-30).join('\n')}`)
  }
}

interface Entry {
  readonly version: string
  readonly timestamp: string
  readonly changes?: readonly object[]
  readonly events?: readonly object[]
  readonly values?: readonly unknown[]
  readonly error?: object
}

function partsIn({ changes, events, values, error }: Entry): readonly string[] {
  if (error) return ['error']
  if (values) return [JSON.stringify(values)]
  return (changes ?? events ?? []).map((part) => JSON.stringify(part)).toSorted()
}

function fromOf(begin: Begin): string | undefined {
  if (begin.kind === 'now') return undefined
  if (begin.kind === 'version') return String(begin.first)
  const seconds = new Date(Number(begin.timestampUsec / 1_000_000n) * 1_000).toISOString().slice(0, 19)
  return `${seconds}.${String(begin.timestampUsec % 1_000_000n).padStart(6, '0')}Z`
}

/** The last version of a block that began before a time; -1 if there is none. */
function lastBefore(versions: readonly MadeVersion[], timestampUsec: bigint): bigint {
  return versions.findLast((one) => one.timestampUsec < timestampUsec)?.version ?? -1n
}
