/**
 * The coordinator of a running cluster. Citus is not supported yet: it refuses some look-ups (`cannot push down this
 * subquery`). So its tests run by request only: `CITUS_URL=$(../shared/citus/cluster.sh start FOLDER)`, as root, with
 * PostgreSQL 15.20 or newer.
 */
export const CITUS_URL = process.env.CITUS_URL
