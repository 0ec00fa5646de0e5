import type { LoadedModuleCache } from '../load/loaded-module-cache.js'
import type { Native } from '../natives/native.js'
import { World } from './world.js'

/** Most idle worlds that are kept. Each may hold other versions of modules. */
const MOST = 4
/** Most heap bytes of the modules of idle worlds. The newest world is always kept. Worlds share most modules. */
const MOST_BYTES = 64 << 20

/** The worlds of a vm that no run is using. */
export class WorldPool {
  readonly #cache: LoadedModuleCache
  readonly #natives: ReadonlyMap<string, Native>
  /** Idle worlds, the most recently returned last. */
  readonly #idle: World[] = []

  constructor(cache: LoadedModuleCache, natives: ReadonlyMap<string, Native>) {
    this.#cache = cache
    this.#natives = natives
  }

  /** A world that is not in `tried`; a new one if there is none. */
  take(tried: readonly World[]): World {
    const world = tried.length === 0 ? this.#idle.pop() : this.#takeOther(tried)
    return world ?? new World(this.#cache, this.#natives)
  }

  #takeOther(tried: readonly World[]): World | undefined {
    const at = this.#idle.findLastIndex((world) => !tried.includes(world))
    return at < 0 ? undefined : this.#idle.splice(at, 1)[0]
  }

  /** Takes a world back from a run that has ended. */
  giveBack(world: World): void {
    if (!world.end()) return
    this.#idle.push(world)
    while (this.#idle.length > MOST || (this.#idle.length > 1 && this.#heapBytes() > MOST_BYTES)) this.#idle.shift()
  }

  #heapBytes(): number {
    let bytes = 0
    for (const { heapBytes } of this.#idle) bytes += heapBytes
    return bytes
  }
}
