import { ByteReader, ByteWriter, bytesToHex, isLedgerStateError, parseAddress } from '@ledger-state/core'
import { madeEndings, signedLedgerInfo } from '@ledger-state/feed/testing/synthetic-epochs'
import { createRequestListener } from '@ledger-state/http'
import {
  CHECKPOINT,
  createProvenLedger,
  DEFAULT_ACCOUNTS_ON,
  EPOCH,
  HOME,
  type ProvenLedger,
  VALIDATORS,
  waypointOf,
} from '@ledger-state/http/testing/proven-ledger'
import { createLedger } from '@ledger-state/ledger'
import {
  computeWaypoint,
  jsonToStateProof,
  LedgerHasher,
  readLedgerInfo,
  type StateProof,
  type StateProofJson,
  stateProofToJson,
} from '@ledger-state/proof'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import fc from 'fast-check'
import { inject } from 'light-my-request'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Case, cases, itemQuestion, resource } from '../testing/proven-cases.ts'
import { rememberingBls } from '../testing/remembering-bls.ts'
import type { ReadQuestion } from './question.js'
import { readAnswer } from './read-answer.js'
import { readProofFrom } from './read-proof.js'
import { type VerifyReadOptions, verifyRead } from './verify-read.js'

function listenerOf({ engine, proofs }: ProvenLedger) {
  // The machine may be busy with other tests: no load is shed.
  return createRequestListener({ ledger: createLedger(engine), proofs, maxEventLoopDelayMs: Number.POSITIVE_INFINITY })
}

let proven: ProvenLedger
let listener: ReturnType<typeof createRequestListener>
beforeAll(async () => {
  proven = await createProvenLedger()
  listener = listenerOf(proven)
})
afterAll(() => proven.close())

const AT = `ledger_version=${CHECKPOINT}&proof=true`
const waypoint = waypointOf(1)

async function request(url: string, body?: unknown, accept = 'application/json') {
  const { rawPayload } = await inject(listener, {
    method: body === undefined ? 'GET' : 'POST',
    url: `/v1${url}&proof_from=${waypoint}`,
    headers: { accept, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return rawPayload
}

/** The node of the test, as `fetch` would ask it. */
const fetchHere = (async (url: string, { body }: { readonly body: string }) => {
  const { payload, statusCode } = await inject(listener, {
    method: 'POST',
    url: url.slice('http://node'.length),
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    payload: body,
  })
  return new Response(payload, { status: statusCode })
}) as unknown as typeof globalThis.fetch

const readProof = readProofFrom('http://node/v1', fetchHere)

async function answerTo({ url, body }: Case, accept?: string): Promise<Buffer> {
  return await request(`${url}?${AT}`, body, accept)
}

const BLS = rememberingBls()
/** Options with which each signature is checked once. */
const remembering = (question: ReadQuestion): VerifyReadOptions => ({ ...options(question), bls: BLS })

/** The value of an answer in BCS, and its proof. */
function splitBcs(body: Uint8Array): readonly [Uint8Array, Uint8Array] {
  const reader = new ByteReader(body)
  reader.readBool()
  return [reader.readByteString(), body.subarray(reader.offset)]
}

/** The JSON of a resource with its type in other words. */
function spellings(value: string): string[] {
  return ['0x0cafe::', 'cafe::', '0xCAFE::', ' 0xcafe::'].map((other) => value.replace('0xcafe::', other))
}

const options = (question: ReadQuestion): VerifyReadOptions => ({ question, waypoint, readProof, version: CHECKPOINT })

describe('verifyRead', () => {
  it.each(cases)('accepts the answer about $question.kind of $url, in both formats', async (one) => {
    for (const accept of ['application/json', 'application/x-bcs']) {
      const answer = await answerTo(one, accept)
      const body = accept === 'application/json' ? answer.toString() : Uint8Array.from(answer)
      const read = await verifyRead(body, options(one.question))
      expect(read.bytes && Uint8Array.from(read.bytes)).toEqual(one.bytes && Uint8Array.from(one.bytes))
      if (one.json !== undefined) expect(JSON.parse(read.json!)).toEqual(one.json)
      expect(read).toMatchObject({ version: CHECKPOINT, signers: { epoch: 4n, count: { signed: 4, total: 4 } } })
      expect(read.signers.power!.signed).toBe(read.signers.power!.total)
    }
    const parsed = JSON.parse((await answerTo(one)).toString()) as unknown
    await expect(verifyRead(parsed, options(one.question))).resolves.toBeDefined()
  })

  it('decodes an account', async () => {
    const answer = await request(`/accounts/0xcafe?${AT}`)
    const { json } = await verifyRead(answer.toString(), options({ kind: 'account', address: '0xcafe' }))
    expect(JSON.parse(json!)).toEqual({ sequence_number: '7', authentication_key: bytesToHex(HOME) })
  })

  it('continues from the newest epoch change, or from validators that are trusted themselves', async () => {
    const body = (await answerTo(cases[0]!)).toString()
    const { signers } = await verifyRead(body, options(cases[0]!.question))
    expect(signers.waypoint).toBe(waypointOf(EPOCH - 1))
    const trustedValidators = readLedgerInfo(new ByteReader(signedLedgerInfo(madeEndings(EPOCH)[EPOCH - 1]!)))
      .nextEpoch!
    const withoutEndings = { ...JSON.parse(body) }
    withoutEndings.proof.epoch_endings = []
    const question = cases[0]!.question
    await expect(verifyRead(withoutEndings, { question, readProof, trustedValidators })).resolves.toBeDefined()
    withoutEndings.proof.epoch_endings = JSON.parse(body).proof.epoch_endings.slice(-1)
    await expect(verifyRead(withoutEndings, { question, readProof, waypoint: signers.waypoint })).resolves.toBeDefined()
  })

  it('takes a quorum, and nothing less', async () => {
    const validators = VALIDATORS
    for (const [signers, code] of [
      [validators.slice(1), undefined],
      [validators.slice(2), 'untrusted'],
      [[], 'untrusted'],
    ] as const) {
      const some = await createProvenLedger({ signers })
      const other = listenerOf(some)
      const { payload } = await inject(other, { url: `/v1/accounts/0xcafe?${AT}&proof_from=${waypoint}` })
      const work = verifyRead(payload, { question: { kind: 'account', address: '0xcafe' }, waypoint })
      if (code === undefined) expect((await work).signers.count).toEqual({ signed: 3, total: 4 })
      else await expect(work).rejects.toMatchObject({ code })
      some.close()
    }
  })

  it('refuses a right proof next to a wrong value', async () => {
    const body = (await answerTo(cases[0]!)).toString()
    for (const [value, said] of [
      ['{"first":"3","second":"10"}', 'the answer says {"first":"3","second":"10"}'],
      ['{"first":"3"}', 'answer says'],
      ['null', 'answer says null'],
      ['"0x03"', 'answer says'],
    ] as const) {
      const wrong = body.replace('{"first":"3","second":"9"}', value)
      await expect(verifyRead(wrong, options(cases[0]!.question))).rejects.toMatchObject({
        code: 'answer_differs',
        message: expect.stringContaining(said),
      })
    }
    const absent = (await answerTo(cases[1]!)).toString()
    const present = absent.replace('"value":null', '"value":{"first":"3","second":"9"}')
    await expect(verifyRead(present, options(cases[1]!.question))).rejects.toMatchObject({ code: 'answer_differs' })
    const score = (await answerTo(cases[3]!)).toString()
    const typed = score.replace('"type":"0xcafe::game::Score"', '"type":"0xcafe::game::Member"')
    await expect(verifyRead(typed, options(cases[3]!.question))).rejects.toMatchObject({ code: 'answer_differs' })
    const bcs = Uint8Array.from(await answerTo(cases[0]!, 'application/x-bcs'))
    bcs[2]! ^= 1
    await expect(verifyRead(bcs, options(cases[0]!.question))).rejects.toMatchObject({ code: 'answer_differs' })
  })

  it('takes an account that is proven absent for a new one, and for nothing else', async () => {
    const address = parseAddress('0xbeef')
    const question = { kind: 'account', address: '0xbeef' } as const
    const key = `"authentication_key":"${bytesToHex(address)}"`
    const impliedJson = `{"sequence_number":"0",${key}}`
    const accountOf = (authenticationKey: Uint8Array, sequenceNumber: bigint) => {
      const writer = new ByteWriter().byteString(authenticationKey).u64(sequenceNumber).u64(2n)
      for (const creationNumber of [0n, 1n]) writer.u64(0n).u64(creationNumber).bytes(address)
      return writer.bool(false).bool(false).toBytes()
    }
    const withDefaults = await createProvenLedger({ further: [DEFAULT_ACCOUNTS_ON] })
    const inDefaults = listenerOf(withDefaults)
    const url = `/v1/accounts/0xbeef?${AT}&proof_from=${waypoint}`
    const ask = async (accept: string) =>
      Uint8Array.from((await inject(inDefaults, { url, headers: { accept } })).rawPayload)
    const json = new TextDecoder().decode(await ask('application/json'))
    const bcs = await ask('application/x-bcs')
    withDefaults.close()
    expect(json).toContain(`{"value":${impliedJson},"proof"`)
    const [, proof] = splitBcs(bcs)
    const next = (value: Uint8Array | undefined) => {
      const writer = new ByteWriter().bool(value !== undefined)
      if (value) writer.byteString(value)
      return Uint8Array.from([...writer.toBytes(), ...proof])
    }
    const inJson = (value: string) => json.replace(impliedJson, value)
    const absent = { bytes: undefined, json: undefined, impliedJson }
    for (let round = 0; round < 2; round++) {
      for (const answer of [json, bcs, inJson('null'), next(undefined), next(accountOf(address, 0n))]) {
        await expect(verifyRead(answer, remembering(question))).resolves.toMatchObject(absent)
      }
      const lies = [
        `{"sequence_number":"1",${key}}`,
        `{"sequence_number":"00",${key}}`,
        `{"sequence_number":0,${key}}`,
        `{${key},"sequence_number":"0"}`,
        `{"sequence_number":"0"}`,
        `{"sequence_number":"0","authentication_key":7}`,
        `{"sequence_number":"0","authentication_key":"0xbeef"}`,
        `{"sequence_number":"0","authentication_key":"0x${'66'.repeat(32)}"}`,
        `{"sequence_number":"0",${key.toUpperCase().replace('AUTHENTICATION_KEY', 'authentication_key')}}`,
        `{"sequence_number":"0",${key},"balance":"1"}`,
        '[]',
        '""',
        '0',
        '{}',
        'false',
      ].map(inJson)
      const lyingBytes = [
        accountOf(address, 1n),
        accountOf(new Uint8Array(32).fill(0x66), 0n),
        accountOf(address, 0n).subarray(1),
        Uint8Array.from([...accountOf(address, 0n), 0]),
        new ByteWriter().byteString(address).u64(0n).toBytes(),
        new Uint8Array(0),
      ].map(next)
      for (const lie of [...lies, ...lyingBytes]) {
        await expect(verifyRead(lie, remembering(question)), String(lie).slice(0, 150)).rejects.toMatchObject({
          code: 'answer_differs',
        })
      }
    }
  })

  it.each(cases)('refuses parts of an answer about $question.kind of $url that no proof covers', async (one) => {
    const body = (await answerTo(one)).toString()
    const value = body.slice('{"value":'.length, body.indexOf(',"proof":'))
    const rest = body.slice(body.indexOf(',"proof":'))
    const invalid = [
      `{"value":"0x66","value":${value}${rest}`,
      `{"value":${value},"value":${value}${rest}`,
      `{"balance":"7","value":${value}${rest}`,
      `{"value":${value}${rest.slice(0, -1)},"balance":"7"}`,
      `{"value":${value}${rest.slice(0, -1)},"proof":{}}`,
      `{"value":${value}${rest.slice(0, -2)},"balance":"7"}}`,
      `{"value":${value}${rest.replace('"proof":{', '"proof":{"value":"0x66",')}`,
      ...(rest.includes('"leaf":{') ? [`{"value":${value}${rest.replace('"leaf":{', '"leaf":{"value":"0x66",')}`] : []),
      `{"value":${value.includes('{') ? value.replace('{"', '{"first":"66","first":"3","') : '{"a":1,"a":1}'}${rest}`,
    ]
    for (const answer of invalid) {
      await expect(verifyRead(answer, remembering(one.question)), answer.slice(0, 150)).rejects.toMatchObject({
        code: 'invalid_answer',
      })
    }
    const differing = value.startsWith('{')
      ? [`${value.slice(0, -1)},"balance":"7"}`, `{"balance":"7",${value.slice(1)}`, `[${value}]`]
      : ['{}', '[]', `[${value}]`, `${value === 'null' ? '""' : value.toUpperCase()}`]
    for (const lie of [...differing, ...(value.includes('0xcafe::') ? spellings(value) : [])]) {
      await expect(verifyRead(`{"value":${lie}${rest}`, remembering(one.question)), lie).rejects.toMatchObject({
        code: 'answer_differs',
      })
    }
  })

  it('refuses another key, another version, and another waypoint', async () => {
    const body = (await answerTo(cases[0]!)).toString()
    await expect(verifyRead(body, options(itemQuestion('4')))).rejects.toMatchObject({ code: 'wrong_state_key' })
    await expect(verifyRead(body, options(resource('Score')))).rejects.toMatchObject({ code: 'wrong_state_key' })
    const { question } = cases[0]!
    await expect(verifyRead(body, { ...options(question), version: 42n })).rejects.toMatchObject({
      code: 'wrong_version',
      fields: { version: CHECKPOINT },
    })
    const other = waypoint.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'))
    for (const trusted of [other, waypointOf(0), waypointOf(2), `44:${'0'.repeat(64)}`, undefined]) {
      await expect(verifyRead(body, { ...options(question), waypoint: trusted })).rejects.toMatchObject({
        code: 'untrusted',
      })
    }
    await expect(verifyRead(body, { ...options(question), hashSalt: 'DIEM::' })).rejects.toMatchObject({
      code: 'verification_failed',
    })
  })

  it('decodes with modules of the same state only, each proven', async () => {
    const body = (await answerTo(cases[0]!)).toString()
    const { question } = cases[0]!
    await expect(verifyRead(body, { question, waypoint })).rejects.toMatchObject({
      code: 'module_not_proven',
      fields: { key: expect.stringContaining('67616d65') },
    })
    const forAnother = async () => (await answerTo(cases[3]!)).toString()
    await expect(verifyRead(body, { question, waypoint, readProof: forAnother })).rejects.toMatchObject({
      code: 'wrong_state_key',
    })
    const tampered: typeof readProof = async (key, version) => {
      const answer = JSON.parse((await readProof(key, version)) as string) as { proof: Record<string, string> }
      answer.proof.state_value = answer.proof.state_value!.replace('67616d65', '67616d66')
      return answer
    }
    await expect(verifyRead(body, { question, waypoint, readProof: tampered })).rejects.toMatchObject({
      code: 'verification_failed',
    })
  })

  it.each(['', '{}', 'null', '[]', '{"value":1}', '{"value":1,"proof":{}}', '{"value":1,"proof":7}', 7, undefined])(
    'refuses %j',
    async (body) => {
      await expect(verifyRead(body, options(cases[0]!.question))).rejects.toMatchObject({ code: 'invalid_answer' })
    },
  )
})

/** Parts of a proof that are bytes, by their paths in its JSON. */
function partsOf(proof: StateProofJson): (readonly string[])[] {
  const lists = ['siblings', 'accumulator_siblings', 'epoch_endings'] as const
  return [
    ['state_key'],
    ...(proof.state_value === null ? [] : [['state_value']]),
    ...(proof.leaf
      ? [
          ['leaf', 'key_hash'],
          ['leaf', 'value_hash'],
        ]
      : []),
    ...lists.flatMap((name) => proof[name].map((_, at) => [name, String(at)])),
    ['transaction_info'],
    ['ledger_info'],
  ]
}

describe('a changed proof', () => {
  const bls = BLS
  const hasher = new LedgerHasher()

  /**
   * Whether two proofs differ only in members of the ledger info that the trusted waypoint does not cover: round,
   * block, consensus hash and signatures.
   */
  function provesTheSame(changed: StateProof, original: StateProof): boolean {
    const [first] = changed.epochEndings
    if (!first || computeWaypoint(hasher, readLedgerInfo(new ByteReader(first))) !== waypoint) return false
    const rest = (proof: StateProof) =>
      JSON.stringify({ ...stateProofToJson(proof), epoch_endings: proof.epochEndings.slice(1).map(bytesToHex) })
    return rest(changed) === rest(original)
  }

  /** Checks that a change is refused, or is in a member that the waypoint does not cover. */
  async function expectRefused(
    changed: unknown,
    original: unknown,
    question: ReadQuestion,
    what: string,
  ): Promise<void> {
    try {
      await verifyRead(changed, { ...options(question), bls })
    } catch (error) {
      expect(isLedgerStateError(error), `${what}: ${error}`).toBe(true)
      return
    }
    expect(provesTheSame(readAnswer(changed).proof, readAnswer(original).proof), `accepted: ${what}`).toBe(true)
  }

  it.each(cases)('is never accepted, whatever byte of it is another: $question.kind of $url', async (one) => {
    const body = (await answerTo(one)).toString()
    const { proof } = JSON.parse(body) as { readonly proof: StateProofJson }
    const parts = partsOf(proof)
    await fc.assert(
      fc.asyncProperty(
        fc.nat(parts.length - 1),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        async (part, at, change) => {
          const answer = JSON.parse(body) as { proof: Record<string, Record<string, string> | string> }
          const path = parts[part]!
          const holder = (path.length === 1 ? answer.proof : answer.proof[path[0]!]) as Record<string, string>
          const text = holder[path.at(-1)!]!
          const place = 2 + 2 * (at % ((text.length - 2) / 2))
          const byte = Number.parseInt(text.slice(place, place + 2), 16) ^ change
          holder[path.at(-1)!] = text.slice(0, place) + byte.toString(16).padStart(2, '0') + text.slice(place + 2)
          await expectRefused(answer, body, one.question, `${path.join('.')} byte ${place / 2 - 1} ^ ${change}`)
        },
      ),
      { numRuns: isSlowRun ? scaledRounds(100) : 12 },
    )
  })

  it.each(cases)(
    'is never accepted, whatever byte of its BCS is another or missing: $question.kind of $url',
    async (one) => {
      const body = Uint8Array.from(await answerTo(one, 'application/x-bcs'))
      await fc.assert(
        fc.asyncProperty(fc.nat(body.length - 1), fc.integer({ min: 0, max: 255 }), async (at, change) => {
          const changed = change === 0 ? body.subarray(0, at) : Uint8Array.from(body)
          if (change !== 0) changed[at]! ^= change
          await expectRefused(changed, body, one.question, `byte ${at} ^ ${change}`)
        }),
        { numRuns: isSlowRun ? scaledRounds(100) : 12 },
      )
    },
  )

  it('is never accepted with members added, dropped or turned round', async () => {
    const [one] = cases as [Case]
    const body = (await answerTo(one)).toString()
    const changes: Record<string, (proof: Record<string, string[] | string | null>) => void> = {
      'a sibling more': (proof) => (proof.siblings as string[]).unshift(`0x${'00'.repeat(32)}`),
      'a sibling less': (proof) => (proof.siblings as string[]).pop(),
      'siblings turned round': (proof) => (proof.siblings as string[]).reverse(),
      'an accumulator sibling more': (proof) => (proof.accumulator_siblings as string[]).push(`0x${'00'.repeat(32)}`),
      'an accumulator sibling less': (proof) => (proof.accumulator_siblings as string[]).pop(),
      'another version': (proof) => {
        proof.version = String(CHECKPOINT + 1n)
      },
      'an ending less': (proof) => (proof.epoch_endings as string[]).pop(),
      'an ending twice': (proof) => (proof.epoch_endings as string[]).push((proof.epoch_endings as string[]).at(-1)!),
      'endings turned round': (proof) => (proof.epoch_endings as string[]).reverse(),
      'no value': (proof) => {
        proof.state_value = null
      },
      'no value and no leaf': (proof) => {
        proof.state_value = null
        proof.leaf = null
      },
    }
    for (const [what, change] of Object.entries(changes)) {
      const answer = JSON.parse(body) as { proof: Record<string, string[] | string | null> }
      change(answer.proof)
      await expectRefused(answer, body, one.question, what)
    }
    expect(jsonToStateProof(JSON.parse(body).proof).path.siblings.length).toBeGreaterThan(2)
  })
})

it.each([{ kind: 'balance' }, {}, undefined, null, 7])(
  'a question of an unknown kind is refused: %j',
  async (question) => {
    const body = (await answerTo(cases[0]!)).toString()
    await expect(verifyRead(body, options(question as never))).rejects.toMatchObject({
      code: 'invalid_argument',
      fields: { option: 'question' },
    })
  },
)
