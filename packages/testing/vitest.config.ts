import { vitestConfig } from './src/vitest-config.ts'

export default vitestConfig
