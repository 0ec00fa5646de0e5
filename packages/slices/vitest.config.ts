import { portableVitestConfig } from '@ledger-state/testing/vitest-config'

export default portableVitestConfig
