// SHA3-256 (FIPS 202) as a WebAssembly module that is written at start: functions that hash a list of jobs, one job at
// a time or, with 128-bit vectors, two at once.
import {
  BRANCH_IF,
  block,
  type Code,
  getLocal,
  I32,
  I32_ADD,
  I32_DIFFERS,
  I32_IS_ZERO,
  I32_SUB,
  I64,
  i32Const,
  i32Load,
  i64Const,
  i64Load,
  i64Store,
  loop,
  type ModuleFunction,
  moduleBytes,
  setLocal,
  teeLocal,
  unsigned,
  V128,
  vector,
} from './module-bytes.js'

const LANES = 25
/** Lanes of a block, which is as much as SHA3-256 takes at once. */
const RATE_LANES = 17
const DIGEST_LANES = 4
const ROUNDS = 24

/** Bytes of a job in a list: three u32. */
export const JOB_LENGTH = 12
/** Bytes of a block of a padded message. */
export const BLOCK_LENGTH: number = RATE_LANES * 8
/** Bytes at the start of the memory that hold the constants of the rounds, each twice. */
export const CONSTANTS_LENGTH: number = ROUNDS * 16

/** Constants of the rounds, by the shift register of FIPS 202, section 3.2.5. */
export const ROUND_CONSTANTS: readonly bigint[] = roundConstants()
const ROTATIONS = rotations()

function roundConstants(): bigint[] {
  let register = 1
  return Array.from({ length: ROUNDS }, () => {
    let constant = 0n
    for (let bit = 0; bit < 7; bit++) {
      if (register & 1) constant |= 1n << BigInt(2 ** bit - 1)
      register = (register << 1) ^ (register & 0x80 ? 0x171 : 0)
    }
    return constant
  })
}

/** Bits by which each lane is rotated: FIPS 202, section 3.2.2. */
function rotations(): number[] {
  const bits = new Array<number>(LANES).fill(0)
  let [x, y] = [1, 0]
  for (let step = 0; step < 24; step++) {
    bits[x + 5 * y] = (((step + 1) * (step + 2)) / 2) % 64
    ;[x, y] = [y, (2 * x + 3 * y) % 5]
  }
  return bits
}

/** Instructions on a lane: 64 bits, or two times 64 bits of two hashes. */
interface Lanes {
  readonly type: number
  readonly isDouble: boolean
  readonly xor: Code
  readonly loadConstant: Code
  /** The complement of one value and another. */
  andNot(negated: Code, other: Code): Code
  /** @param spare a local for an intermediate result */
  rotate(value: Code, bits: number, spare: number): Code
  constant(value: bigint): Code
}

const SINGLE: Lanes = {
  type: I64,
  isDouble: false,
  xor: [0x85],
  loadConstant: i64Load(0),
  andNot: (negated, other) => [...negated, ...i64Const(-1n), 0x85, ...other, 0x83],
  rotate: (value, bits) => (bits === 0 ? value : [...value, ...i64Const(BigInt(bits)), 0x89]),
  constant: i64Const,
}

const VECTOR = { load: 0, shuffle: 13, splat: 18, andNot: 79, or: 80, xor: 81, shiftLeft: 203, shiftRight: 205 }
const loadHalf = (offset: number, half: number): Code =>
  half === 0 ? vector(93, 3, ...unsigned(offset)) : vector(87, 3, ...unsigned(offset), 1)
const storeHalf = (offset: number, half: number): Code => vector(91, 3, ...unsigned(offset), half)

const DOUBLE: Lanes = {
  type: V128,
  isDouble: true,
  xor: vector(VECTOR.xor),
  loadConstant: vector(VECTOR.load, 4, 0),
  andNot: (negated, other) => [...other, ...negated, ...vector(VECTOR.andNot)],
  rotate(value, bits, spare) {
    if (bits === 0) return value
    const twice = [...value, ...teeLocal(spare), ...getLocal(spare)]
    if (bits % 8 === 0) return [...twice, ...vector(VECTOR.shuffle, ...rotatedBytes(bits / 8))]
    return [
      ...[...value, ...teeLocal(spare), ...i32Const(bits), ...vector(VECTOR.shiftLeft)],
      ...[...getLocal(spare), ...i32Const(64 - bits), ...vector(VECTOR.shiftRight)],
      ...vector(VECTOR.or),
    ]
  },
  constant: (value) => [...i64Const(value), ...vector(VECTOR.splat)],
}

function rotatedBytes(by: number): number[] {
  return Array.from({ length: 16 }, (_, at) => (at & 8) + (((at & 7) - by + 8) % 8))
}

/** Locals of the permutation: `state` are its lanes. */
interface StateLocals {
  readonly state: number
  readonly round: number
}
const STATE_LOCALS = 2 * LANES + 2 * 5 + 1

/** Keccak-f[1600]: FIPS 202, section 3.2. */
function permutation(lanes: Lanes, { state, round }: StateLocals): Code {
  const { xor } = lanes
  const lane = (x: number, y: number) => state + (x % 5) + 5 * (y % 5)
  const moved = (x: number, y: number) => LANES + lane(x, y)
  const parity = (x: number) => state + 2 * LANES + (x % 5)
  const mixed = (x: number) => parity(x) + 5
  const spare = state + STATE_LOCALS - 1
  const code: number[] = []
  const put = (...parts: readonly Code[]) => {
    for (const part of parts) code.push(...part)
  }
  const all = [0, 1, 2, 3, 4]
  for (const x of all) {
    put(getLocal(lane(x, 0)))
    for (const y of all.slice(1)) put(getLocal(lane(x, y)), xor)
    put(setLocal(parity(x)))
  }
  for (const x of all) {
    put(getLocal(parity(x + 4)), lanes.rotate(getLocal(parity(x + 1)), 1, spare), xor, setLocal(mixed(x)))
  }
  for (const x of all) {
    for (const y of all) {
      const value = [...getLocal(lane(x, y)), ...getLocal(mixed(x)), ...xor]
      put(lanes.rotate(value, ROTATIONS[x + 5 * y]!, spare), setLocal(moved(y, 2 * x + 3 * y)))
    }
  }
  for (const y of all) {
    for (const x of all) {
      put(getLocal(moved(x, y)), lanes.andNot(getLocal(moved(x + 1, y)), getLocal(moved(x + 2, y))), xor)
      if (x + y === 0) put(getLocal(round), lanes.loadConstant, xor)
      put(setLocal(lane(x, y)))
    }
  }
  const next = [...getLocal(round), ...i32Const(16), ...I32_ADD, ...teeLocal(round)]
  return [
    ...[...i32Const(0), ...setLocal(round)],
    ...loop(code, next, i32Const(CONSTANTS_LENGTH), I32_DIFFERS, BRANCH_IF),
  ]
}

// Parameters of the functions: the address of the jobs, their number, and the address of the seed.
const [JOBS, COUNT, SEED] = [0, 1, 2]
/** The words of a job. In `pairs`: left, right, result. In `blocks`: message, number of blocks, result. */
const [FIRST, SECOND, RESULT] = [0, 4, 8]

const jobWord = (offset: number): Code => [...getLocal(JOBS), ...i32Load(offset)]

/** Loads a lane at an address of the job; with vectors, the lane of the next job, too. */
function loadLane({ isDouble }: Lanes, address: (job: number) => Code, offset: number): Code {
  if (!isDouble) return [...address(0), ...i64Load(offset)]
  return [...address(1), ...address(0), ...loadHalf(offset, 0), ...loadHalf(offset, 1)]
}

function storeDigest({ isDouble }: Lanes, state: number): Code {
  const code: number[] = []
  for (let lane = 0; lane < DIGEST_LANES; lane++) {
    const [value, offset] = [getLocal(state + lane), lane * 8]
    if (!isDouble) code.push(...jobWord(RESULT), ...value, ...i64Store(offset))
    else {
      code.push(...jobWord(RESULT), ...value, ...storeHalf(offset, 0))
      code.push(...jobWord(JOB_LENGTH + RESULT), ...value, ...storeHalf(offset, 1))
    }
  }
  return code
}

/** Repeats the code for all jobs. */
function forAllJobs({ isDouble }: Lanes, ...code: readonly Code[]): Code {
  const jobs = isDouble ? 2 : 1
  return block(
    getLocal(COUNT),
    I32_IS_ZERO,
    BRANCH_IF,
    loop(
      ...code,
      [...getLocal(JOBS), ...i32Const(jobs * JOB_LENGTH), ...I32_ADD, ...setLocal(JOBS)],
      [...getLocal(COUNT), ...i32Const(jobs), ...I32_SUB, ...teeLocal(COUNT)],
      BRANCH_IF,
    ),
  )
}

/** Hashes a seed, which is the same for all jobs, and two hashes: 96 bytes, which fit one block. */
function pairsFunction(name: string, lanes: Lanes): ModuleFunction {
  const [round, state] = [3, 4]
  const code: number[] = []
  const put = (...parts: readonly Code[]) => {
    for (const part of parts) code.push(...part)
  }
  for (let lane = 0; lane < DIGEST_LANES; lane++) {
    put(
      loadLane(lanes, () => getLocal(SEED), lane * 8),
      setLocal(state + lane),
    )
  }
  for (const [half, word] of [FIRST, SECOND].entries()) {
    for (let lane = 0; lane < DIGEST_LANES; lane++) {
      const load = loadLane(lanes, (job) => jobWord(job * JOB_LENGTH + word), lane * 8)
      put(load, setLocal(state + (half + 1) * DIGEST_LANES + lane))
    }
  }
  const messageEnd = 3 * DIGEST_LANES
  for (let lane = messageEnd; lane < LANES; lane++) {
    const padding = lane === messageEnd ? 6n : lane === RATE_LANES - 1 ? 1n << 63n : 0n
    put(lanes.constant(padding), setLocal(state + lane))
  }
  put(permutation(lanes, { state, round }), storeDigest(lanes, state))
  const locals = [
    [1, I32],
    [STATE_LOCALS, lanes.type],
  ] as const
  return { name, locals, code: forAllJobs(lanes, code) }
}

/** Hashes padded messages. With vectors, both messages of a pair must have the same number of blocks. */
function blocksFunction(name: string, lanes: Lanes): ModuleFunction {
  const [message, other, left, round, state] = [3, 4, 5, 6, 7]
  const begin: number[] = [...jobWord(FIRST), ...setLocal(message), ...jobWord(SECOND), ...setLocal(left)]
  if (lanes.isDouble) begin.push(...jobWord(JOB_LENGTH + FIRST), ...setLocal(other))
  for (let lane = 0; lane < LANES; lane++) begin.push(...lanes.constant(0n), ...setLocal(state + lane))
  const absorb: number[] = []
  for (let lane = 0; lane < RATE_LANES; lane++) {
    const load = loadLane(lanes, (job) => getLocal(job === 0 ? message : other), lane * 8)
    absorb.push(...getLocal(state + lane), ...load, ...lanes.xor, ...setLocal(state + lane))
  }
  const advance = (local: number): Code => [
    ...getLocal(local),
    ...i32Const(BLOCK_LENGTH),
    ...I32_ADD,
    ...setLocal(local),
  ]
  const absorbAll = loop(
    absorb,
    permutation(lanes, { state, round }),
    advance(message),
    lanes.isDouble ? advance(other) : [],
    [...getLocal(left), ...i32Const(1), ...I32_SUB, ...teeLocal(left), ...BRANCH_IF],
  )
  const locals = [
    [4, I32],
    [STATE_LOCALS, lanes.type],
  ] as const
  return { name, locals, code: forAllJobs(lanes, begin, absorbAll, storeDigest(lanes, state)) }
}

/**
 * Encodes the module. `pairs` and `blocks` take one job at a time.
 * @param hasVectors whether to add `pairs2` and `blocks2`, which take two; their number of jobs is even
 */
export function keccakModule(hasVectors: boolean): Uint8Array<ArrayBuffer> {
  const functions = [pairsFunction('pairs', SINGLE), blocksFunction('blocks', SINGLE)]
  if (hasVectors) functions.push(pairsFunction('pairs2', DOUBLE), blocksFunction('blocks2', DOUBLE))
  return moduleBytes(functions)
}
