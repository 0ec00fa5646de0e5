import { expect, it } from 'vitest'
import { MetricsHistory } from './metrics-history.js'

it('a MetricsHistory adds up the labels of the drawn metrics, and drops points older than an hour', () => {
  const history = new MetricsHistory()
  const text = [
    '# HELP ledger_state_latest_version Newest.',
    'ledger_state_latest_version 2999',
    'ledger_state_process_resident_memory_bytes{process="reader-0"} 100',
    'ledger_state_process_resident_memory_bytes{process="a b} 7"} 1.5e2',
    'ledger_state_process_state{process="reader-0",state="up"} 1',
    '',
  ].join('\n')
  for (let at = 0; at < 400; at++) history.add(text, at)
  expect(history.samples).toHaveLength(360)
  expect(history.samples[0]).toEqual({
    time: 40,
    values: { ledger_state_latest_version: 2_999, ledger_state_process_resident_memory_bytes: 250 },
  })
})
