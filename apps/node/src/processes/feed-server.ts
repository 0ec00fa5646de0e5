// The main module of the process that serves the store to replicas, on a separate address.
import { createServer } from 'node:http'
import { join } from 'node:path'
import { ignoreUpgrades } from '@ledger-state/http'
import { createFeedListener } from '@ledger-state/replication'
import { openStateEngineReader } from '@ledger-state/state-engine'
import { Registry } from 'prom-client'
import type { ListenAddress } from '../config/settings.js'
import { createLogger, type LogSettings } from '../observability/logger.js'
import { registerProcessMetrics } from '../observability/process-metrics.js'
import { aborted, failProcess, processSettings, startReports, stopOrder } from './child.js'
import { addressUrl, listenOn } from './listen.js'

export interface FeedServerSettings {
  readonly dataDir: string
  readonly listen: ListenAddress
  /** Folder of a backup that is served, too. */
  readonly backupFolder: string | undefined
  readonly log: LogSettings
}

/** Folder for snapshots inside the store's folder: its disk has room for the store. */
const SNAPSHOT_FOLDER = 'snapshots'

async function runFeedServer(settings: FeedServerSettings & { readonly name: string }, stop: AbortSignal) {
  const { dataDir, listen, backupFolder, name } = settings
  const log = createLogger(settings.log, name)
  const engine = openStateEngineReader({ path: dataDir, verifyReads: true })
  const feed = createFeedListener({
    engine,
    snapshotFolder: join(dataDir, SNAPSHOT_FOLDER),
    backupFolder,
    onError: (error) => log.error(error, 'a request of a replica failed'),
  })
  const server = createServer(feed.listener)
  ignoreUpgrades(server)
  await listenOn(server, listen, 'serve-feed')
  log.info(`serving replicas on ${addressUrl(server)}`)
  const registry = new Registry()
  registerProcessMetrics(registry, name, log)
  const stopReports = startReports(registry, () => {
    engine.expectInPlace()
    return engine.ledger
  })
  await aborted(stop)
  stopReports()
  const closed = feed.close()
  server.close()
  server.closeAllConnections()
  await engine.close()
  await closed
}

const stop = stopOrder()
runFeedServer(processSettings(), stop).then(() => process.exit(), failProcess)
