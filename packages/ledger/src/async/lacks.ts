/** Counts how often the runs of a read asked for something that is not loaded. A part of a run in which it stays is complete. */
export class Lacks {
  count = 0
}
