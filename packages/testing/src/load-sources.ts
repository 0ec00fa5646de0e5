// Loaded before the program by `SOURCE_OPTIONS`, in its main thread and in each thread that it starts.
import { enableCompileCache, registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'

enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/compiled-sources', import.meta.url)))

/** Module that only exists as a source: sources import each other by the names that they have after a build. */
const BUILT_NAME = /^(?:\.{1,2}\/|file:).*\.js$/

registerHooks({
  resolve(specifier, context, nextResolve) {
    if (!BUILT_NAME.test(specifier)) return nextResolve(specifier, context)
    const source = `${specifier.slice(0, -'.js'.length)}.ts`
    if (context.parentURL?.endsWith('.ts')) return nextResolve(source, context)
    try {
      return nextResolve(specifier, context)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
      return nextResolve(source, context)
    }
  },
})
