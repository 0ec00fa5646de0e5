/** Number of threads of libuv, unless the environment sets another. */
const DEFAULT_THREADS = 4
const MOST_THREADS = 1_024
/** Threads of a large pool that stay free for files, hashes and names; of a smaller pool, half of the threads do. */
const FREE_THREADS = 8

/**
 * Number of threads of the pool of this process that may wait for the disk, while others do what commits and requests
 * need. The pool has the size that `UV_THREADPOOL_SIZE` had when the process started.
 */
export function spareThreads(size = process.env.UV_THREADPOOL_SIZE): number {
  const given = Number.parseInt(size ?? '', 10)
  const threads = Number.isNaN(given) ? DEFAULT_THREADS : Math.min(MOST_THREADS, Math.max(1, given))
  return threads - Math.min(FREE_THREADS, Math.ceil(threads / 2))
}
