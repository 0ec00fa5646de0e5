import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { AsyncStateWriter, StateWriter } from '@ledger-state/engine'
import { listStateTrees } from '@ledger-state/feed'
import type { Logger } from 'pino'
import { auditedStore } from '../stores/audited-store.js'
import { childArguments } from './child.js'
import { SETTINGS_VARIABLE } from './messages.js'
import type { TreeProcessSettings } from './tree-process.js'

const TREE_PROCESS = new URL('./tree-process.js', import.meta.url)
const LOOK_INTERVAL_MS = 5_000
/**
 * Rest after making a tree, in multiples of the time that it took. So trees take at most a tenth of the time, however
 * fast checkpoints come.
 */
const REST_FACTOR = 9
const REST_AFTER_FAILURE_MS = 60_000

/** Lets a separate process make the tree of the newest signed checkpoint while a writer follows a source. */
export interface TreeKeeper {
  /** Looks for a new checkpoint at intervals. */
  resume(): void
  /** Stops beginning trees. */
  pause(): void
  /** Ends the process that makes a tree. */
  close(): Promise<void>
}

/**
 * Creates a keeper of trees.
 * @param engine engine of the writer, which knows the newest checkpoint
 */
export function createTreeKeeper(
  engine: StateWriter | AsyncStateWriter,
  settings: TreeProcessSettings,
  log: Logger,
): TreeKeeper {
  const { kept, folder } = settings.trees
  let timer: NodeJS.Timeout | undefined
  let child: ChildProcess | undefined
  let isLooking = false
  let done: bigint | undefined
  let restUntil = 0

  async function look(): Promise<void> {
    if (isLooking || performance.now() < restUntil) return
    isLooking = true
    try {
      const version = await newestVersion()
      if (timer && version !== undefined && version !== done) await make(version)
    } catch (error) {
      log.warn(`the newest signed checkpoint cannot be read: ${error instanceof Error ? error.message : error}`)
    } finally {
      isLooking = false
    }
  }

  async function newestVersion(): Promise<bigint | undefined> {
    return (await (await auditedStore(engine)).newestCheckpoint())?.version
  }

  async function make(version: bigint): Promise<void> {
    if (!listStateTrees(folder!).includes(version)) {
      const began = performance.now()
      const isMade = await runProcess()
      const tookMs = performance.now() - began
      restUntil = performance.now() + Math.max(REST_FACTOR * tookMs, isMade ? 0 : REST_AFTER_FAILURE_MS)
      if (!isMade) return
    }
    done = version
  }

  async function runProcess(): Promise<boolean> {
    child = fork(TREE_PROCESS, {
      env: { ...process.env, [SETTINGS_VARIABLE]: JSON.stringify(settings) },
      execArgv: childArguments(),
    })
    try {
      const [code] = (await once(child, 'exit')) as [number | null]
      return code === 0
    } finally {
      child = undefined
    }
  }

  return {
    resume() {
      if (kept === 0 || folder === undefined) return
      timer ??= setInterval(() => void look(), LOOK_INTERVAL_MS)
      void look()
    },
    pause() {
      clearInterval(timer)
      timer = undefined
    },
    async close() {
      this.pause()
      if (!child) return
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    },
  }
}
