import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { bytesToHexDigits, isLedgerStateError } from '@ledger-state/core'
import { LedgerHasher } from '@ledger-state/proof'
import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SyntheticChain, writeBackup } from '../../testing/synthetic-chain.ts'
import { createProver, type Prover } from './prover.js'
import type { TransactionChunk } from './transaction-chunk-proof.js'

const chain = new SyntheticChain({ blocks: 10 })
const hasher = new LedgerHasher()

let folder: string
let prover: Prover
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'prover-'))
  writeBackup(chain, folder, { gzip: false, chunk: 10 })
  prover = createProver(hasher)
})
afterEach(async () => {
  await prover.close()
  rmSync(folder, { recursive: true, force: true })
})

const chunk = (first: number): TransactionChunk => ({
  path: join(folder, `transaction_0-.ab12/${first}-.chunk`),
  proofPath: join(folder, `transaction_0-.ab12/${first}-${first + 9}.proof`),
  firstVersion: BigInt(first),
  lastVersion: BigInt(first + 9),
  hasAuxiliary: false,
})

describe('the thread that proves chunks', () => {
  it('answers as the proof in the same thread does, in the order of the requests', async () => {
    const here = createProver(hasher, false)
    const both = [chunk(0), chunk(10)]
    const expected = await Promise.all(both.map((one) => here.proveTransactions(one, undefined)))
    const answers = await Promise.all(both.map((one) => prover.proveTransactions(one, undefined)))
    expect(answers.map(({ frontierAfter }) => Buffer.from(frontierAfter))).toEqual(
      expected.map(({ frontierAfter }) => Buffer.from(frontierAfter)),
    )
    expect(Buffer.from(answers[1]!.frontier)).toEqual(Buffer.from(answers[0]!.frontierAfter))
  })

  it('answers the same with as many threads as are of use, even if the first fails', async () => {
    const jobs = [chunk(0), chunk(10), chunk(0), chunk(10)].map((one) => () => prover.proveTransactions(one, undefined))
    const hexOf = ({ frontierAfter }: { readonly frontierAfter: Uint8Array }) => bytesToHexDigits(frontierAfter)
    const expected = (await Promise.all(jobs.map((job) => job()))).map(hexOf)
    let threads = 1
    while (prover.widen()) threads++
    expect(threads).toBe(Math.min(4, availableParallelism()))
    expect((await Promise.all(jobs.map((job) => job()))).map(hexOf)).toEqual(expected)
    const wrong = prover.proveTransactions({ ...chunk(0), lastVersion: 10n }, undefined)
    const right = Promise.all(jobs.map((job) => job()))
    await expect(wrong).rejects.toMatchObject({ code: 'invalid_backup' })
    expect((await right).map(hexOf)).toEqual(expected)
  })

  it('hands on errors with their code, and works on', async () => {
    writeFileSync(chunk(0).path, Buffer.from([0, 0, 0, 9, 1]))
    const error = await prover.proveTransactions(chunk(0), undefined).catch((thrown: unknown) => thrown)
    expect(isLedgerStateError(error, 'invalid_backup')).toBe(true)
    await expect(prover.proveTransactions(chunk(10), undefined)).resolves.toBeDefined()
  })

  it('is waited for by whoever closes it, even if a reply is on its way', () => {
    const program = `
      import { LedgerHasher } from '${new URL('../../../proof/src/index.ts', import.meta.url)}'
      import { createProver } from '${new URL('prover.ts', import.meta.url)}'
      const prover = createProver(new LedgerHasher())
      const page = { body: Buffer.from([0]), start: 0n, url: 'x', verify: true }
      await prover.provePage(page)
      const last = prover.provePage(page).catch(() => {})
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
      await prover.close()
      await last`
    writeFileSync(join(folder, 'program.mjs'), program)
    const words = [...SOURCE_OPTIONS, join(folder, 'program.mjs')]
    // Node.js exits with 13 if nothing is left that could settle the promise.
    expect(spawnSync(process.execPath, words, { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' })
  })

  it('refuses work once it is closed', async () => {
    const begun = prover.proveTransactions(chunk(0), undefined)
    const next = prover.proveTransactions(chunk(10), undefined)
    const outcomes = Promise.allSettled([begun, next])
    await prover.close()
    const [, last] = await outcomes
    expect(last).toMatchObject({ status: 'rejected', reason: { code: 'source_failed' } })
  })
})
