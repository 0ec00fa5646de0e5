/** libuv's number of threads, where the environment does not say otherwise. */
const DEFAULT_THREADS = 4
const MOST_THREADS = 1_024
/** Threads that stay free for files, hashes and names, in a large pool; half of a smaller one. */
const FREE_THREADS = 8

/**
 * How many threads of the pool of this process may wait for the disk while others do what commits and requests need. The
 * size of the pool is that of `UV_THREADPOOL_SIZE` when the process started.
 */
export function spareThreads(size = process.env.UV_THREADPOOL_SIZE): number {
  const given = Number.parseInt(size ?? '', 10)
  const threads = Number.isNaN(given) ? DEFAULT_THREADS : Math.min(MOST_THREADS, Math.max(1, given))
  return threads - Math.min(FREE_THREADS, Math.ceil(threads / 2))
}
