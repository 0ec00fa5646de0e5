/** Keys by number. Each is a part of the same bytes. */
export interface KeySource {
  readonly keyCount: number
  readonly bytes: Buffer
  startOfKey(key: number): number
  endOfKey(key: number): number
}

/** Number of keys that are sorted, or merged, in one step on the event loop: about 3 ms of work. */
const STEP_KEYS = 8_192
/** The same in a thread that has nothing else to do: the larger the sorted runs, the fewer merges. */
export const THREAD_STEP_KEYS = 65_536
/** Keys that are sorted at once by a word and a place: together they fit in the 53 bits of a number. */
const MOST_PLACES = 2 ** 20
/** Number of words that are read in one step: less than a millisecond of work. */
const WORDS_AT_ONCE = 65_536
/** Ranges shorter than this are sorted by comparing. */
const SHORT_RANGE = 16
/** From this depth, ranges are also sorted by comparing: many long keys with a common beginning get there. */
const DEEP = 64
/** Number of bytes that are compared here; a longer common beginning is compared by the native function. */
const COMPARED_HERE = 48

/**
 * The numbers of keys in the order of their bytes. It sorts the keys that were added since the last time into a run, and
 * merges runs of similar length, so a key is merged about as often as the number of keys can be halved.
 */
export class KeyOrder {
  readonly #source: KeySource
  /** Sorted runs. Except while a step is under way, each is longer than all that follow it together. */
  #runs: Int32Array[] = []
  #counted = 0

  constructor(source: KeySource) {
    this.#source = source
  }

  get byteSize(): number {
    return 4 * this.#counted
  }

  /** Number of keys that are sorted, in part or as a whole. */
  get sortedCount(): number {
    return this.#counted
  }

  /** Forgets all keys but the first `keyCount`. */
  cutTo(keyCount: number): void {
    if (keyCount >= this.#counted) return
    this.#runs = this.#runs.map((run) => run.filter((key) => key < keyCount)).filter(({ length }) => length > 0)
    this.#counted = keyCount
  }

  /** All keys, in runs that are each in order; valid until keys are added. There are few: see `#runs`. */
  runs(): readonly Int32Array[] {
    for (const _ of this.#addSteps(STEP_KEYS));
    return this.#runs
  }

  /** All keys in order; valid until keys are added. */
  sorted(): Int32Array {
    for (const _ of this.steps());
    return this.#runs[0] ?? new Int32Array(0)
  }

  /**
   * Does the work of `sorted` in steps of some milliseconds, or of more keys. Between the steps, others may sort, too: a scan
   * during a flush does.
   */
  *steps(stepKeys = STEP_KEYS): Generator<void> {
    yield* this.#addSteps(stepKeys)
    while (this.#runs.length > 1) yield* this.#mergeLast()
  }

  *#addSteps(stepKeys: number): Generator<void> {
    while (this.#counted < this.#source.keyCount) {
      const count = Math.min(stepKeys, this.#source.keyCount - this.#counted)
      const run = new Int32Array(count)
      for (let at = 0; at < count; at++) run[at] = this.#counted + at
      this.#sortRange(run, 0, count, 0)
      this.#runs.push(run)
      this.#counted += count
      yield
      while (this.#runs.length > 1 && this.#runs.at(-2)!.length < 2 * this.#runs.at(-1)!.length)
        yield* this.#mergeLast()
    }
  }

  /**
   * Merges the last two runs. If they are not the last two any more after a step, others have merged them, and nothing
   * changes.
   */
  *#mergeLast(): Generator<void> {
    const [left, right] = this.#runs.slice(-2) as [Int32Array, Int32Array]
    const depth = this.#commonBytes(left, right)
    const leftWords = yield* this.#words(left, depth)
    const rightWords = yield* this.#words(right, depth)
    const merged = new Int32Array(left.length + right.length)
    let fromLeft = 0
    let fromRight = 0
    for (let start = 0; start < merged.length; ) {
      // A short run has few places in a long one: the keys between them are copied.
      const taken =
        fromRight < right.length
          ? this.#lengthBelow(left, leftWords, fromLeft, right[fromRight]!, rightWords[fromRight]!)
          : left.length - fromLeft
      if (taken > 0) merged.set(left.subarray(fromLeft, fromLeft + taken), fromLeft + fromRight)
      fromLeft += taken
      if (fromRight < right.length) {
        merged[fromLeft + fromRight] = right[fromRight]!
        fromRight++
      }
      if (fromLeft + fromRight - start < STEP_KEYS && fromLeft + fromRight < merged.length) continue
      start = fromLeft + fromRight
      yield
    }
    if (this.#runs.at(-2) === left && this.#runs.at(-1) === right) this.#runs.splice(-2, 2, merged)
  }

  /** Number of bytes with which all keys of two runs begin: those between the first and the last of a run begin like both. */
  #commonBytes(left: Int32Array, right: Int32Array): number {
    const ends = [left[0]!, left.at(-1)!, right[0]!, right.at(-1)!]
    const { bytes } = this.#source
    const starts = ends.map((key) => this.#source.startOfKey(key))
    const most = Math.min(...ends.map((key, at) => this.#source.endOfKey(key) - starts[at]!))
    let common = 0
    while (common < most && starts.every((start) => bytes[start + common] === bytes[starts[0]! + common])) common++
    return common
  }

  /** The four bytes after the first `depth` of each key: most comparisons need no others. */
  *#words(run: Int32Array, depth: number): Generator<void, Float64Array> {
    const words = new Float64Array(run.length)
    for (let at = 0; at < run.length; at++) {
      words[at] = this.#word(run[at]!, depth)
      if (at % WORDS_AT_ONCE === WORDS_AT_ONCE - 1) yield
    }
    return words
  }

  /**
   * Number of keys of a run, counted from a place, that are below a key of another run. The search doubles its steps, then
   * halves them.
   */
  #lengthBelow(run: Int32Array, words: Float64Array, from: number, key: number, word: number): number {
    let least = 0
    let step = 1
    while (from + least + step <= run.length && this.#isBelow(run, words, from + least + step - 1, key, word)) {
      least += step
      step *= 2
    }
    let most = Math.min(least + step - 1, run.length - from)
    while (least < most) {
      const middle = (least + most) >> 1
      if (this.#isBelow(run, words, from + middle, key, word)) least = middle + 1
      else most = middle
    }
    return least
  }

  #isBelow(run: Int32Array, words: Float64Array, at: number, key: number, word: number): boolean {
    const other = words[at]!
    return other !== word ? other < word : this.#compare(run[at]!, key) < 0
  }

  /** Sorts keys that agree in their first `depth` bytes by the next four, and then each group that agrees in these. */
  #sortRange(run: Int32Array, start: number, end: number, depth: number): void {
    const count = end - start
    if (count < 2) return
    if (count < SHORT_RANGE || depth >= DEEP) {
      run.subarray(start, end).sort((a, b) => this.#compare(a, b))
      return
    }
    // Each number is the word, with the present place of the key as its fraction.
    const places = new Float64Array(count)
    const first = this.#word(run[start]!, depth)
    let isCommon = true
    for (let at = 0; at < count; at++) {
      const word = this.#word(run[start + at]!, depth)
      if (word !== first) isCommon = false
      places[at] = word + at / MOST_PLACES
    }
    if (isCommon) {
      this.#sortRange(run, start, end, depth + 4)
      return
    }
    places.sort()
    const before = run.slice(start, end)
    let group = 0
    for (let at = 0; at < count; at++) {
      const word = Math.floor(places[at]!)
      run[start + at] = before[(places[at]! - word) * MOST_PLACES]!
      if (at > 0 && word !== Math.floor(places[at - 1]!)) {
        this.#sortRange(run, start + group, start + at, depth + 4)
        group = at
      }
    }
    this.#sortRange(run, start + group, end, depth + 4)
  }

  /** Four bytes of a key. Bytes beyond its end count as zeros. */
  #word(key: number, depth: number): number {
    const { bytes } = this.#source
    const at = this.#source.startOfKey(key) + depth
    const end = this.#source.endOfKey(key)
    if (at + 4 <= end) return bytes[at]! * 2 ** 24 + ((bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!)
    let word = 0
    for (let part = 0; part < 4; part++) word = word * 256 + (at + part < end ? bytes[at + part]! : 0)
    return word
  }

  #compare(a: number, b: number): number {
    const { bytes } = this.#source
    const startA = this.#source.startOfKey(a)
    const endA = this.#source.endOfKey(a)
    const startB = this.#source.startOfKey(b)
    const endB = this.#source.endOfKey(b)
    const common = Math.min(endA - startA, endB - startB, COMPARED_HERE)
    for (let at = 0; at < common; at++) {
      const difference = bytes[startA + at]! - bytes[startB + at]!
      if (difference !== 0) return difference
    }
    return bytes.compare(bytes, startB + common, endB, startA + common, endA)
  }
}
