import { createLedger } from '@ledger-state/ledger'
import { inject } from 'light-my-request'
import { describe, expect, it } from 'vitest'
import { createOneItemEngine } from '../../testing/one-item-server.ts'
import { createRequestListener } from '../server/create-request-listener.js'
import type { LedgerTrust, SignedState } from './trust.js'

const WAYPOINT = `0:${'ab'.repeat(32)}`

async function trustOf(
  signed: SignedState | undefined,
  contradicted?: LedgerTrust['contradicted'],
  audited?: LedgerTrust['audited'],
) {
  const ledger = createLedger(await createOneItemEngine())
  const listener = createRequestListener({
    ledger,
    network: 'devnet',
    readTrust: () => ({ signed, contradicted, audited }),
  })
  const { statusCode, payload } = await inject(listener, { url: '/v1/-/trust' })
  expect(statusCode).toBe(200)
  return JSON.parse(payload) as Record<string, unknown>
}

describe('GET /v1/-/trust', () => {
  it('says who signed, from which waypoint, and up to which version', async () => {
    const power = { signed: 80n, total: 90n }
    expect(await trustOf({ waypoint: WAYPOINT, version: 0n, epoch: 8n, power })).toEqual({
      ledger_version: '0',
      network: 'devnet',
      waypoint: WAYPOINT,
      signed_version: '0',
      signed_epoch: '8',
      signed_power: '80',
      total_power: '90',
      contradicted_version: null,
      contradicted_epoch: null,
      audited_version: null,
      audited_from_version: null,
      audit_findings: null,
      proof_versions: [],
      proof_blocks: null,
      hash_salt: null,
    })
  })

  it('is null if nothing verifies the ledger, and of power if the waypoint itself does', async () => {
    const { ledger_version: version, network: _, proof_versions: proven, ...facts } = await trustOf(undefined)
    expect([version, proven]).toEqual(['0', []])
    expect(new Set(Object.values(facts))).toEqual(new Set([null]))
    expect(await trustOf({ waypoint: WAYPOINT, version: 0n, epoch: 0n, power: undefined })).toMatchObject({
      signed_version: '0',
      signed_power: null,
    })
  })

  it('names the version at which validators signed another ledger', async () => {
    expect(await trustOf(undefined, { version: 70n, epoch: 9n })).toMatchObject({
      signed_version: null,
      contradicted_version: '70',
      contradicted_epoch: '9',
    })
  })

  it('says which versions the operator audited, and the findings', async () => {
    expect(await trustOf(undefined, undefined, { from: 3n, version: 90n, findings: 0 })).toMatchObject({
      audited_version: '90',
      audited_from_version: '3',
      audit_findings: 0,
    })
  })

  it('names no version that was cut off', async () => {
    expect(await trustOf({ waypoint: WAYPOINT, version: 9n, epoch: 1n, power: undefined })).toMatchObject({
      signed_version: '0',
    })
  })
})
