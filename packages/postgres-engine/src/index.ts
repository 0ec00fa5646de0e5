export type { CheckOptions, CheckReport } from './maintain/check-store.js'
export {
  createPostgresStore,
  openPostgresEngine,
  openPostgresEngineReader,
  type PostgresEngine,
  type PostgresEngineReader,
  type PostgresReaderOptions,
  type PostgresWriterOptions,
} from './open-postgres-engine.js'
