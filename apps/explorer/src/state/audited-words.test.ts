import { expect, it } from 'vitest'
import type { Trust } from '../api/answers.ts'
import { groupDigits } from './amount.ts'
import { auditedWords } from './audited-words.ts'

const AUDITED = groupDigits('12345')
const TRUST: Trust = {
  ledger_version: '12345',
  waypoint: `0:978a${'0'.repeat(60)}`,
  signed_version: '12345',
  signed_epoch: '8',
  signed_power: '4',
  total_power: '5',
  contradicted_version: null,
  contradicted_epoch: null,
  audited_version: '12345',
  audited_from_version: '0',
  audit_findings: 0,
  network: null,
  proof_versions: [],
  proof_blocks: null,
  hash_salt: null,
}

it('the page says up to which version the ledger is audited, and from which waypoint it is signed', () => {
  expect(auditedWords(TRUST)).toBe(`audited to version ${AUDITED}, from version 0 (signed, from the waypoint 0:978a…)`)
  expect(auditedWords({ ...TRUST, signed_version: '9999' })).toBe(
    `audited to version ${AUDITED}, from version 0 (signed to version ${groupDigits('9999')}, from the waypoint 0:978a…)`,
  )
  expect(auditedWords({ ...TRUST, waypoint: null, signed_version: null })).toBe(
    `audited to version ${AUDITED}, from version 0 (the ledger is not signed)`,
  )
  expect(auditedWords({ ...TRUST, audit_findings: 2 })).toBe(
    `an audit found that the state differs from the ledger: 2×, to version ${AUDITED}`,
  )
  expect(auditedWords({ ...TRUST, audited_version: null })).toBeUndefined()
})
