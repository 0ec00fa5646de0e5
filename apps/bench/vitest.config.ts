import { vitestConfig } from '../../testing/vitest.base.ts'

export default vitestConfig
