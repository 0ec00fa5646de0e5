import { vitestConfig } from '@ledger-state/testing/vitest-config'

export default vitestConfig
