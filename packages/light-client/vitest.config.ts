import { portableConfigWith } from '@ledger-state/testing/vitest-config'

export default portableConfigWith({ recordedAnswers: new URL('testing/record-answers.ts', import.meta.url) })
