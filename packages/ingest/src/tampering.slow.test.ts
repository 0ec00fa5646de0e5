// Backups that were changed, or that untrusted validators signed. Each is refused with the right error, before
// anything unproven is committed.
import { Buffer } from 'node:buffer'
import { isLedgerStateError } from '@ledger-state/core'
import { SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import {
  ledgerInfoMessage,
  type MadeLedgerInfo,
  type MadeValidator,
  maskOf,
  publicKeyOf,
  signatureOf,
  signedLedgerInfo,
  waypointHash,
  writeEndings,
} from '@ledger-state/feed/testing/synthetic-epochs'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type BackupFiles,
  joinRecords,
  readBackupFiles,
  splitRecords,
  writeBackupFiles,
} from '../testing/backup-files.ts'
import { type IngestOutcome, ingestOutcome } from '../testing/proven-ingest.ts'
import { createStoreBed, type StoreBed } from '../testing/store-bed.ts'

const chain = new SyntheticChain({ blocks: 25, signers: true })
const EPOCH = Number(chain.epoch)
const LEVELS = Math.ceil(Math.log2(chain.records.length))
/** Version of the snapshot; two chunks end before it. */
const SNAPSHOT = chain.records.findLastIndex(({ info }, version) => version < 50 && info[9] === 0 && info[106] === 1)
/** A version of the second chunk that writes. */
const WRITING = chain.records.findIndex(({ writeSet }, version) => version >= 25 && writeSet.length > 100)
const made = chain.endings()
const waypoint = `0:${waypointHash(made[0]!)}`

const ENDINGS = 'epoch_ending_0-.aaaa/0-.chunk'
const MANIFEST = 'epoch_ending_0-.aaaa/epoch_ending.manifest'
const CHUNK = 'transaction_0-.ab12/25-.chunk'
const PROOF = 'transaction_0-.ab12/25-49.proof'

let bed: StoreBed
let sound: BackupFiles
let snapshotName: string
beforeAll(() => {
  bed = createStoreBed()
  const folder = writeBackup(chain, bed.at('sound'), { gzip: false, snapshot: { version: SNAPSHOT, chunk: 20 } })
  snapshotName = folder.slice(bed.at('sound').length + 1)
  writeEndings(bed.at('sound'), made.map(signedLedgerInfo))
  sound = readBackupFiles(bed.at('sound'))
})
afterAll(() => bed.close())

/** Members that manifests of all kinds have. */
interface Manifest {
  readonly chunks: readonly object[]
  readonly version: number
  readonly epoch: number
}

type Change = (files: BackupFiles) => void

/**
 * Ingests the backup after a change to it.
 * @param folder folder of the snapshot; empty for the transactions
 */
async function ingestChanged(change: Change, folder = '', trusted = waypoint): Promise<IngestOutcome> {
  const files: BackupFiles = new Map(sound)
  change(files)
  writeBackupFiles(bed.at('changed'), files)
  return await ingestOutcome(`${bed.at('changed')}/${folder}`, { waypoints: [trusted] })
}

/**
 * Expects an ingest to be refused.
 * @param latest newest version that may be committed nevertheless, because it is proven without the change
 */
function expectRefused(outcome: IngestOutcome, code: string, message: RegExp, latest?: bigint): void {
  expect(isLedgerStateError(outcome.error, code as 'untrusted'), String(outcome.error)).toBe(true)
  expect(String(outcome.error)).toMatch(message)
  expect(outcome.latestVersion).toBe(latest)
  if (latest === undefined) expect(outcome.signed).toBeUndefined()
}

function changeBytes(name: string, change: (bytes: Buffer) => Uint8Array): Change {
  return (files) => {
    const bytes = files.get(name)
    if (!bytes) throw new Error(`the backup has no ${name}`)
    files.set(name, Buffer.from(change(Buffer.from(bytes))))
  }
}

const changeRecords = (name: string, change: (records: Buffer[]) => readonly Uint8Array[]): Change =>
  changeBytes(name, (bytes) => joinRecords(change(splitRecords(bytes))))

const changeJson = (name: string, change: (value: Manifest) => unknown): Change =>
  changeBytes(name, (bytes) => Buffer.from(JSON.stringify(change(JSON.parse(bytes.toString('utf8')) as Manifest))))

const flip = (name: string, at: (bytes: Buffer) => number): Change =>
  changeBytes(name, (bytes) => {
    bytes[at(bytes)]! ^= 1
    return bytes
  })

/** Change that replaces the ending of an epoch. */
const ending = (epoch: number, record: Uint8Array): Change =>
  changeRecords(ENDINGS, (records) => records.map((one, at) => (at === epoch ? record : one)))

const other = (epoch: number, changes: Partial<MadeLedgerInfo>): Change =>
  ending(epoch, signedLedgerInfo({ ...made[epoch]!, ...changes }))

/** An ending with the given mask and signature. */
function sealed(info: MadeLedgerInfo, mask: Uint8Array, signature: Uint8Array | undefined): Uint8Array {
  return sealedMessage(ledgerInfoMessage(info), mask, signature)
}

function sealedMessage(message: Uint8Array, mask: Uint8Array, signature: Uint8Array | undefined): Uint8Array {
  const end = signature ? [1, signature.length, ...signature] : [0]
  return Uint8Array.from([0, ...message, mask.length, ...mask, ...end])
}

const { validators } = made[2]!
const genuine = signatureOf(ledgerInfoMessage(made[2]!), validators)
const full = maskOf(validators, validators)
const strangers: readonly MadeValidator[] = validators.map(({ power }, at) => ({ secret: BigInt(900 + at), power }))
const infinity = (length: number) => Uint8Array.from({ length }, (_, at) => (at === 0 ? 0xc0 : 0))
/** Bytes that are not a point: a coordinate is above the field's modulus. */
const noPoint = new Uint8Array(96).fill(0x9f)

/** Powers 4, 1, 1: exactly two thirds sign, which is not more than two thirds. */
const thirds = [4n, 1n, 1n].map((power, at) => ({ secret: BigInt(700 + at), power }))

it('the backup is sound without a change', async () => {
  const outcome = await ingestChanged(() => {})
  expect([outcome.error, outcome.latestVersion]).toEqual([undefined, chain.latestVersion])
  expect(outcome.signed).toMatchObject({ version: chain.latestVersion, epoch: chain.epoch, waypoint })
  const state = await ingestChanged(() => {}, snapshotName)
  expect([state.error, state.latestVersion]).toEqual([undefined, BigInt(SNAPSHOT)])
  expect(state.signed).toMatchObject({ version: BigInt(SNAPSHOT), epoch: chain.epoch, waypoint })
})

describe('epoch changes', () => {
  it.each<[string, Change, RegExp]>([
    [
      'signed by strangers',
      other(2, { signers: strangers, validators: strangers }),
      /epoch 2 has an invalid signature/,
    ],
    [
      'with another signature',
      ending(2, sealed(made[2]!, full, signatureOf(new Uint8Array(9), validators))),
      /epoch 2 has an invalid signature/,
    ],
    [
      'with less than a quorum',
      other(2, { signers: validators.slice(2) }),
      /epoch 2 is signed by \d+ of \d+ voting power/,
    ],
    ['signed for another network', other(2, { salt: 'DIEM::' }), /epoch 2 has an invalid signature/],
    ['without a signature', ending(2, sealed(made[2]!, full, undefined)), /epoch 2 .* has no signature/],
    [
      'with a bit beyond the set',
      ending(2, sealed(made[2]!, Uint8Array.of(full[0]! | 8), genuine)),
      /signed by validator 4/,
    ],
    [
      'with a mask that is too long',
      ending(2, sealed(made[2]!, Uint8Array.of(full[0]!, 0), genuine)),
      /signer mask of 2 bytes/,
    ],
    ['without a mask', ending(2, sealed(made[2]!, new Uint8Array(0), genuine)), /signer mask of 0 bytes/],
    [
      'with infinity as the signature',
      ending(2, sealed(made[2]!, full, infinity(96))),
      /epoch 2 has an invalid signature/,
    ],
    [
      'with a signature that is not a point',
      ending(2, sealed(made[2]!, full, noPoint)),
      /epoch 2 has an invalid signature/,
    ],
    [
      'with a signature of another length',
      ending(2, sealed(made[2]!, full, genuine.subarray(1))),
      /epoch 2 has an invalid signature/,
    ],
    [
      'with other powers',
      other(1, { nextEpoch: { epoch: 2n, validators: validators.map((one) => ({ ...one, power: 1n })) }, signers: [] }),
      /epoch 1 is signed by 0/,
    ],
    [
      'with a changed power under the old signature',
      flip(ENDINGS, (bytes) => bytes.indexOf(splitRecords(bytes)[1]!) + 1 + 88 + 32 + 8 + 1 + 32 + 1 + 48),
      /epoch 1 has an invalid signature/,
    ],
    [
      'with a changed root under the old signature',
      flip(ENDINGS, (bytes) => bytes.indexOf(splitRecords(bytes)[2]!) + 1 + 16 + 32),
      /epoch 2 has an invalid signature/,
    ],
    [
      'with the validators of the epoch before',
      other(2, { validators: made[1]!.validators, signers: made[1]!.validators }),
      /epoch 2 has an invalid signature|epoch 2 is signed/,
    ],
    [
      'twice',
      changeRecords(ENDINGS, (records) => [records[0]!, records[1]!, ...records.slice(1)]),
      /expected the change of epoch 2 after version/,
    ],
    [
      'in another order',
      changeRecords(ENDINGS, ([a, b, c, ...rest]) => [a!, c!, b!, ...rest]),
      /expected the change of epoch 1 after version/,
    ],
    ['that ends nothing', other(2, { nextEpoch: undefined }), /does not name the validators of the next epoch/],
    [
      'that names no validators',
      other(2, { nextEpoch: { epoch: 3n, validators: [] } }),
      /does not name the validators/,
    ],
    [
      'that skips an epoch',
      other(2, { nextEpoch: { epoch: 4n, validators } }),
      /does not name the validators of the next epoch/,
    ],
    ['before the version of the one before', other(2, { version: 1n }), /epoch 2 ends at version 1; expected/],
    [
      'of another genesis',
      other(0, { root: new Uint8Array(32) }),
      /epoch 0 has the waypoint 0:[0-9a-f]{64}, but the trusted waypoint is 0:/,
    ],
    [
      'of another chain',
      changeRecords(ENDINGS, (records) => [
        records[0]!,
        ...made.slice(1).map((info) =>
          signedLedgerInfo({
            ...info,
            validators: strangers,
            signers: strangers,
            nextEpoch: { epoch: info.epoch + 1n, validators: strangers },
          }),
        ),
      ]),
      /epoch 1 has an invalid signature/,
    ],
  ])('%s are refused', async (_, change, message) => {
    expectRefused(await ingestChanged(change), 'untrusted', message)
    expectRefused(await ingestChanged(change, snapshotName), 'untrusted', message)
  })

  it.each<[string, Change]>([
    ['one', changeRecords(ENDINGS, ([a, , ...rest]) => [a!, ...rest])],
    ['the last one', changeRecords(ENDINGS, (records) => records.slice(0, -1))],
  ])('are refused with %s left out: the file has fewer than its manifest names', async (_, change) => {
    const message = /epoch_ending.manifest is missing the changes of epochs 3 to 3/
    expectRefused(await ingestChanged(change), 'invalid_backup', message)
    expectRefused(await ingestChanged(change, snapshotName), 'invalid_backup', message)
  })

  it('are refused if a quorum named validators that cannot sign with their keys or powers', async () => {
    const withSet =
      (set: readonly MadeValidator[], record: Uint8Array): Change =>
      (files) => {
        other(1, { nextEpoch: { epoch: 2n, validators: set } })(files)
        ending(2, record)(files)
      }
    const third = { ...made[2]!, validators: thirds, signers: thirds.slice(0, 1) }
    expectRefused(
      await ingestChanged(withSet(thirds, signedLedgerInfo(third))),
      'untrusted',
      /4 of 6 voting power; 5 is required/,
    )
    // One key is the point at infinity, so the sum of the others' keys is the sum of all.
    const [first, ...rest] = validators
    const message = Buffer.from(ledgerInfoMessage({ ...made[1]!, nextEpoch: { epoch: 2n, validators } }))
    message.set(infinity(48), message.indexOf(publicKeyOf(first!.secret)))
    const signers = made[1]!.validators
    const naming = sealedMessage(message, maskOf(signers, signers), signatureOf(message, signers))
    const outcome = await ingestChanged((files) => {
      ending(1, naming)(files)
      ending(2, sealed(made[2]!, full, signatureOf(ledgerInfoMessage(made[2]!), rest)))(files)
    })
    expectRefused(outcome, 'untrusted', /epoch 2 has an invalid signature/)
  })

  it.each<[string, Change, RegExp]>([
    [
      'with bytes after one',
      changeRecords(ENDINGS, (all) => all.map((one, at) => (at === 2 ? Buffer.concat([one, Buffer.of(0)]) : one))),
      /0-.chunk, record 2/,
    ],
    ['cut short', changeBytes(ENDINGS, (bytes) => bytes.subarray(0, bytes.length - 30)), /0-.chunk.* record \d+/],
    [
      'of an unknown variant',
      changeRecords(ENDINGS, (all) =>
        all.map((one, at) => (at === 2 ? Buffer.concat([Buffer.of(1), one.subarray(1)]) : one)),
      ),
      /record 2: .*variant 1/,
    ],
  ])('%s are refused', async (_, change, message) => {
    expectRefused(await ingestChanged(change), 'invalid_backup', message)
  })

  it('with another waypoint in their manifest are refused', async () => {
    const listed = made.map((info) => `${info.version}:${waypointHash(info)}`)
    const list = (waypoints: readonly string[]) => changeJson(MANIFEST, (manifest) => ({ ...manifest, waypoints }))
    expect((await ingestChanged(list(listed))).error).toBeUndefined()
    const wrong = list(listed.map((one, at) => (at === 2 ? `${made[2]!.version}:${'ab'.repeat(32)}` : one)))
    expectRefused(await ingestChanged(wrong), 'verification_failed', /epoch 2 ends with the waypoint .* lists \d+:abab/)
  })

  it('from a waypoint of another network, version or hash, are refused', async () => {
    const mainnet = '0:6072b68a942aace147e0655c5704beaa255c84a7829baa4e72a500f1516584c4'
    expectRefused(await ingestChanged(() => {}, '', mainnet), 'untrusted', /epoch 0 has the waypoint/)
    const later = `7${waypoint.slice(1)}`
    expectRefused(await ingestChanged(() => {}, '', later), 'untrusted', /waypoint/)
    expectRefused(await ingestChanged(() => {}, snapshotName, mainnet), 'untrusted', /epoch 0 has the waypoint/)
  })
})

describe('a chunk of transactions', () => {
  const info = (changes: Partial<MadeLedgerInfo>): Change =>
    changeBytes(PROOF, (bytes) => {
      const signers = made.at(-1)!.nextEpoch!.validators
      const sealed = {
        epoch: chain.epoch,
        version: chain.latestVersion,
        root: chain.accumulatorRoot(),
        nextEpoch: undefined,
        validators: signers,
        signers,
      }
      const end = bytes.length - chain.ledgerInfo().length
      return Buffer.concat([bytes.subarray(0, end), signedLedgerInfo({ ...sealed, ...changes })])
    })

  it.each<[string, Change, string, RegExp]>([
    [
      'under another root with genuine signatures',
      info({ root: new Uint8Array(32) }),
      'verification_failed',
      /25-.chunk, versions 25 to 49: the accumulator root of version/,
    ],
    [
      'under a ledger info of strangers',
      info({ validators: strangers, signers: strangers }),
      'untrusted',
      /25-49.proof, the ledger info of version \d+: epoch/,
    ],
    [
      'under a ledger info of an unknown epoch',
      info({ epoch: chain.epoch + 1n }),
      'untrusted',
      /is missing the changes of epochs/,
    ],
    [
      'under a ledger info of an earlier epoch',
      info({ epoch: 1n }),
      'untrusted',
      /epoch 1 has unknown validators|epoch 1/,
    ],
    [
      'under a ledger info of an earlier version',
      info({ version: 30n }),
      'invalid_backup',
      /its ledger ends at version 30, before version 49/,
    ],
    [
      'with a flipped bit of a write',
      flip(CHUNK, (bytes) => bytes.indexOf(chain.records[WRITING]!.writeSet) + 60),
      'verification_failed',
      new RegExp(`record ${WRITING - 25} \\(version ${WRITING}\\): the state change hash`),
    ],
    [
      'with a record left out',
      changeRecords(CHUNK, ([, ...rest]) => rest),
      'verification_failed|invalid_backup',
      /25-.chunk/,
    ],
    [
      'with a record twice',
      changeRecords(CHUNK, ([first, ...rest]) => [first!, first!, ...rest]),
      'invalid_backup',
      /25-.chunk/,
    ],
    [
      'with two records exchanged',
      changeRecords(CHUNK, ([a, b, ...rest]) => [b!, a!, ...rest]),
      'verification_failed',
      /25-.chunk, versions 25 to 49: the accumulator root/,
    ],
    [
      'with bytes after a record',
      changeRecords(CHUNK, ([a, ...rest]) => [Buffer.concat([a!, Buffer.of(0)]), ...rest]),
      'verification_failed',
      /record 0 \(version 25\)/,
    ],
    [
      'with the proof of the chunk before',
      (files) => files.set(PROOF, files.get('transaction_0-.ab12/0-24.proof')!),
      'invalid_backup',
      /25-49.proof: its left siblings/,
    ],
    [
      'with a proof that is cut short',
      changeBytes(PROOF, (bytes) => bytes.subarray(0, -1)),
      'invalid_backup',
      /25-49.proof/,
    ],
    [
      'with bytes after the proof',
      changeBytes(PROOF, (bytes) => Buffer.concat([bytes, Buffer.of(0)])),
      'invalid_backup',
      /25-49.proof/,
    ],
    [
      'under a manifest that names other versions',
      changeJson('transaction_0-.ab12/transaction.manifest', (manifest) => ({
        ...manifest,
        chunks: manifest.chunks.map((chunk: object, at: number) => (at === 1 ? { ...chunk, last_version: 48 } : chunk)),
      })),
      'invalid_backup',
      /25-.chunk/,
    ],
  ])('%s is refused', async (_, change, codes, message) => {
    const outcome = await ingestChanged(change)
    const code = (outcome.error as { code?: string } | undefined)?.code ?? ''
    expect(codes.split('|'), String(outcome.error)).toContain(code)
    expectRefused(outcome, code, message, 24n)
    expect(outcome.signed).toMatchObject({ version: 24n, epoch: chain.epoch, waypoint })
  })

  it('of a ledger that is made up whole, with genuine epoch changes, is refused', async () => {
    const lie = new SyntheticChain({ blocks: 25, seed: 2, signers: strangers })
    writeBackup(lie, bed.at('lie'), { gzip: false })
    writeEndings(bed.at('lie'), made.map(signedLedgerInfo))
    const outcome = await ingestOutcome(bed.at('lie'), { waypoints: [waypoint] })
    expectRefused(outcome, 'untrusted', new RegExp(`0-24.proof, the ledger info of version .*: epoch ${EPOCH}`))
  })
})

describe('a state snapshot', () => {
  const at = (name: string) => `${snapshotName}/${name}`
  const file =
    (name: string, change: (name: string) => Change): Change =>
    (files) =>
      change(at(name))(files)
  const records = (change: (records: Buffer[]) => readonly Uint8Array[]) =>
    file('0-.chunk', (name) => changeRecords(name, change))
  const manifest = (change: (value: Manifest) => unknown) => file('state.manifest', (name) => changeJson(name, change))

  it.each<[string, Change, RegExp]>([
    ['with an entry left out', records(([, ...rest]) => rest), /entries|records|holds/],
    ['with an entry more', records((all) => [...all, all[0]!]), /entries|record/],
    [
      'with another value',
      records(([a, ...rest]) => [Buffer.concat([a!.subarray(0, -1), Buffer.of(a!.at(-1)! ^ 1)]), ...rest]),
      /the state root|record 0/,
    ],
    ['with an entry twice', records(([a, , ...rest]) => [a!, a!, ...rest]), /record 1: .*key/],
    ['in another order', records(([a, b, ...rest]) => [b!, a!, ...rest]), /record 1: .*key/],
    [
      'with its chunks exchanged',
      (files) => {
        const [a, b] = [files.get(at('0-.chunk'))!, files.get(at('20-.chunk'))!]
        files.set(at('0-.chunk'), b)
        files.set(at('20-.chunk'), a)
      },
      /0-.chunk/,
    ],
    [
      'with its proofs exchanged',
      (files) => {
        const [a, b] = [files.get(at('0-19.proof'))!, files.get(at('20-39.proof'))!]
        files.set(at('0-19.proof'), b)
        files.set(at('20-39.proof'), a)
      },
      /siblings|state root/,
    ],
    [
      'without its last chunk',
      manifest((value) => ({ ...value, chunks: value.chunks.slice(0, -1) })),
      /the state root of all entries/,
    ],
    [
      'without its first chunk',
      manifest((value) => ({ ...value, chunks: value.chunks.slice(1) })),
      /holds entries 20 to 39; expected entries starting at 0/,
    ],
    [
      'with another root',
      manifest((value) => ({ ...value, root_hash: chain.stateRoot(0).toString('hex') })),
      /names the state root .* but its proof is for/,
    ],
    [
      'of another version',
      manifest((value) => ({ ...value, version: value.version - 1 })),
      /siblings|accumulator root/,
    ],
    [
      'of another epoch',
      manifest((value) => ({ ...value, epoch: value.epoch + 2 })),
      /state.manifest says that epoch \d+ ends with the state/,
    ],
    [
      'with a proof that is cut short',
      file('state.proof', (name) => changeBytes(name, (bytes) => bytes.subarray(0, -1))),
      /state.proof/,
    ],
    [
      'with bytes after its proof',
      file('state.proof', (name) => changeBytes(name, (bytes) => Buffer.concat([bytes, Buffer.of(0)]))),
      /state.proof/,
    ],
    [
      'with bytes after the proof of a chunk',
      file('0-19.proof', (name) => changeBytes(name, (bytes) => Buffer.concat([bytes, Buffer.of(0)]))),
      /0-19.proof/,
    ],
  ])('%s is refused', async (_, change, message) => {
    const outcome = await ingestChanged(change, snapshotName)
    const code = (outcome.error as { code?: string } | undefined)?.code ?? ''
    expect(['verification_failed', 'invalid_backup'], String(outcome.error)).toContain(code)
    expectRefused(outcome, code, message)
  })

  it('that passes for a later one, by a sibling above the root of the signed ledger, is refused', async () => {
    const later = SNAPSHOT + 2 ** LEVELS
    const outcome = await ingestChanged((files) => {
      file('state.proof', (name) =>
        changeBytes(name, (bytes) => {
          const end = 1 + 32 * bytes[0]!
          return Buffer.concat([
            Buffer.of(bytes[0]! + 1),
            bytes.subarray(1, end),
            Buffer.alloc(32, 7),
            bytes.subarray(end),
          ])
        }),
      )(files)
      manifest((value) => ({ ...value, version: later }))(files)
    }, snapshotName)
    expectRefused(
      outcome,
      'invalid_backup',
      new RegExp(`its ledger ends at version ${chain.latestVersion}, before version ${later}`),
    )
  })

  it('under a ledger info of strangers, and of an epoch whose validators are not known, is refused', async () => {
    const lie = (options: { epoch: bigint; of: readonly MadeValidator[] }) =>
      file('state.proof', (name) =>
        changeBytes(name, (bytes) => {
          const info = {
            epoch: options.epoch,
            version: chain.latestVersion,
            root: chain.accumulatorRoot(),
            nextEpoch: undefined,
          }
          const signed = signedLedgerInfo({ ...info, validators: options.of, signers: options.of })
          return Buffer.concat([bytes.subarray(0, bytes.length - chain.ledgerInfo().length), signed])
        }),
      )
    const strange = await ingestChanged(lie({ epoch: chain.epoch, of: strangers }), snapshotName)
    expectRefused(
      strange,
      'untrusted',
      /state.proof, the ledger info of version \d+: epoch \d+ has an invalid signature/,
    )
    const unknown = await ingestChanged(lie({ epoch: chain.epoch + 3n, of: strangers }), snapshotName)
    expectRefused(unknown, 'untrusted', /is missing the changes of epochs/)
  })
})

describe.skipIf(!hasSharedData)('the made-up ledger of ../shared (skipped without it)', () => {
  const trusted = '0:576f7b9c49d70e5d08da6278068fe401e8ad1441ea89a522d9295e219b8d7966'
  const snapshot = 'state_epoch_5_ver_155.cccc'

  async function ingestMade(change: Change, folder = ''): Promise<IngestOutcome> {
    const files = readBackupFiles(sharedPath('data/epochs/made'))
    change(files)
    writeBackupFiles(bed.at('made'), files)
    return await ingestOutcome(`${bed.at('made')}/${folder}`, { waypoints: [trusted] })
  }

  it('is refused with each variant of its epoch changes laid over it', async () => {
    const variants = 'variants/'
    const files = readBackupFiles(sharedPath('data/epochs/made'))
    const names = new Set(
      [...files.keys()].filter((name) => name.startsWith(variants)).map((name) => name.split('/')[1]!),
    )
    expect(names.size).toBeGreaterThan(0)
    for (const name of names) {
      const overlay: Change = (all) => {
        const from = `${variants}${name}/`
        for (const [path, bytes] of all) if (path.startsWith(from)) all.set(path.slice(from.length), bytes)
      }
      const outcome = await ingestMade(overlay)
      expect(isLedgerStateError(outcome.error, 'untrusted'), `${name}: ${outcome.error}`).toBe(true)
      expect(String(outcome.error)).toMatch(/record \d+: epoch \d+ is signed|record \d+: epoch \d+ has/)
    }
  })

  it('is refused with the ends of another chain, and with proofs exchanged between its chunks and its snapshot', async () => {
    const ends = 'epoch_ending_0-.aaaa/0-.chunk'
    const foreign = await ingestMade((files) => {
      const others = readBackupFiles(sharedPath('data/epochs/chain-a'))
      const genesis = splitRecords(files.get(ends)!)[0]!
      const rest = [1, 2, 3, 4, 5, 6, 7].map((epoch) => {
        const name = [...others.keys()].find((one) => one.endsWith(`/${epoch}-.chunk`))!
        return splitRecords(others.get(name)!)[0]!
      })
      files.set(ends, joinRecords([genesis, ...rest]))
    })
    expectRefused(foreign, 'untrusted', /record 1: epoch 1/)
    const exchanged = await ingestMade((files) => {
      files.set('transaction_0-.bbbb/100-247.proof', files.get('transaction_0-.bbbb/0-99.proof')!)
    })
    expectRefused(exchanged, 'invalid_backup', /100-247.proof/, 99n)
    const state = await ingestMade((files) => {
      files.set(`${snapshot}/0-35.proof`, files.get(`${snapshot}/36-72.proof`)!)
    }, snapshot)
    expectRefused(
      state,
      'verification_failed|invalid_backup'.split('|')[
        (state.error as { code: string }).code === 'invalid_backup' ? 1 : 0
      ]!,
      /siblings|state root/,
    )
    const epoch = await ingestMade(
      changeJson(`${snapshot}/state.manifest`, (value) => ({ ...value, epoch: 6 })),
      snapshot,
    )
    expectRefused(epoch, 'verification_failed', /says that epoch 6 ends with the state/)
  })
})
