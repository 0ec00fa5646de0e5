import { isLedgerStateError } from '@ledger-state/core'
import { overriding } from '@ledger-state/testing/overriding'
import type { AsyncSnapshot, AsyncStateView, AsyncStateWriter } from '../../src/ports/async-engine-ports.ts'
import type { EngineView, StateWriter } from '../../src/ports/engine-ports.ts'

/** Replaces members of a sound object, so that it breaks one rule of the contract. */
type Patch<T, Context> = (target: T, context: Context) => Partial<T>

/** A patch of an engine. The number counts how often the store was opened before. */
export type EnginePatch<T = StateWriter> = Patch<T, number>

/** Faults in words, each with the patch that causes it. */
export type Faults<T = StateWriter> = Readonly<Record<string, EnginePatch<T>>>

type MethodName<T> = { [K in keyof T]-?: T[K] extends (...given: never[]) => unknown ? K : never }[keyof T]
type Given<T, K extends keyof T> = T[K] extends (...given: infer G) => unknown ? G : never
type Answer<T, K extends keyof T> = T[K] extends (...given: never[]) => infer A ? Awaited<A> : never

/** Makes patches of one method. */
function patchesOf<T extends object, Context>() {
  /** Replaces a method. */
  function replaced<K extends MethodName<T>>(
    name: K,
    replace: (sound: T[K], target: T, context: Context) => T[K],
  ): Patch<T, Context> {
    return (target, context) => {
      const sound = Reflect.get(target, name) as unknown as (...given: unknown[]) => unknown
      const members = { [name]: replace(sound.bind(target) as T[K], target, context) }
      return members as unknown as Partial<T>
    }
  }

  /** Changes the arguments of a method. */
  function given<K extends MethodName<T>>(
    name: K,
    change: (given: Given<T, K>, target: T, context: Context) => readonly unknown[],
  ): Patch<T, Context> {
    return replaced(name, (sound, target, context) => {
      const call = sound as unknown as (...given: unknown[]) => unknown
      return ((...all: Given<T, K>) => call(...change(all, target, context))) as unknown as T[K]
    })
  }

  /** Changes the answer of a method, or of the promise that it returns. */
  function answered<K extends MethodName<T>>(
    name: K,
    change: (answer: Answer<T, K>, given: Given<T, K>, target: T, context: Context) => unknown,
  ): Patch<T, Context> {
    return replaced(name, (sound, target, context) => {
      const call = sound as unknown as (...given: Given<T, K>) => unknown
      return ((...all: Given<T, K>) => {
        const answer = call(...all)
        const changed = (sure: unknown) => change(sure as Answer<T, K>, all, target, context)
        return answer instanceof Promise ? answer.then(changed) : changed(answer)
      }) as unknown as T[K]
    })
  }

  /** Answers with something else where the sound method fails, or fails with one code. */
  function rescued<K extends MethodName<T>>(
    name: K,
    instead: (given: Given<T, K>, target: T, context: Context) => unknown,
    code?: string,
  ): Patch<T, Context> {
    return replaced(name, (sound, target, context) => {
      const call = sound as unknown as (...given: Given<T, K>) => unknown
      return ((...all: Given<T, K>) => {
        const rescue = (error: unknown) => {
          if (code !== undefined && !isLedgerStateError(error, code)) throw error
          return instead(all, target, context)
        }
        try {
          const answer = call(...all)
          return answer instanceof Promise ? answer.catch(rescue) : answer
        } catch (error) {
          return rescue(error)
        }
      }) as unknown as T[K]
    })
  }

  return { replaced, given, answered, rescued }
}

export const onEngine = patchesOf<StateWriter, number>()
export const onView = patchesOf<EngineView, StateWriter>()
export const onSnapshot = patchesOf<AsyncSnapshot, AsyncStateWriter>()
export const onAsyncView = patchesOf<AsyncStateView, AsyncSnapshot>()

/** Patches all views of an engine. */
export function views(patch: Patch<EngineView, StateWriter>): EnginePatch {
  return onEngine.answered('at', (view, _, engine) => overriding(view, patch(view, engine)))
}

/** Patches all snapshots of an engine. */
export function snapshots(patch: Patch<AsyncSnapshot, AsyncStateWriter>): EnginePatch<AsyncStateWriter> {
  return (engine) => ({
    snapshot: async () => {
      const snapshot = await engine.snapshot()
      return overriding(snapshot, patch(snapshot, engine))
    },
  })
}

/** Patches all views of all snapshots. */
export function asyncViews(patch: Patch<AsyncStateView, AsyncSnapshot>): EnginePatch<AsyncStateWriter> {
  return snapshots(onSnapshot.answered('at', (view, _, snapshot) => overriding(view, patch(view, snapshot))))
}
