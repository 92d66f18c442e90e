// Writes long made-up work sessions from a seed, as drafts of journal entries, together with what
// the next conversation of each will need. It knows nothing of how context is packed, so that the
// packing can be measured against it.

const topic = (theme, names, files, test, finds, acts, picks, blocks, musts) => ({
  theme,
  names,
  files,
  test,
  finds,
  acts,
  picks,
  blocks,
  musts,
})

// A pick is: what is chosen, what else there was, why, and why it is undone when it is. A block has
// its resolution, and a must its second wording.
const TOPICS = [
  topic(
    'storage',
    ['segment compaction', 'the compactor', 'merging old segments'],
    ['src/store/compact.ts', 'src/store/segment.ts', 'src/store/manifest.ts'],
    'npx vitest run test/store/compact.test.ts',
    [
      'two compactions that overlap by one segment write manifest {N} twice and the later one ' +
        'wins silently',
      'a segment over {mb} MB is read fully into memory because readRange ignores its upper bound',
      'tombstones older than {d} days survive when the segment holding them is the smallest of ' +
        'its level',
      'mergeLevels spends {pct} % of its time comparing tenant prefixes that are equal anyway',
      'on XFS the rename of the manifest is visible before its content after a power cut',
      'the level-2 threshold counts compressed bytes, so text-heavy tenants compact {n} times ' +
        'as often',
      'deleting a segment while a reader holds it makes the next open fail with ENOENT on NFS ' +
        'mounts',
      'checksum mismatches in the staging copy all come from segments written before {ver}',
    ],
    [
      'hold one compaction lock per tenant instead of one for the whole store',
      'fsync the directory after the manifest rename in publishManifest',
      'stream segments through a {mb} MB window when merging',
      'drop tombstones as soon as no older level can contain the key',
      'make the level thresholds configurable per tenant class',
      'write a repair command that rebuilds the manifest from segment footers',
      'refuse to open a manifest whose generation is lower than the last one seen',
    ],
    [
      [
        'size-tiered compaction',
        'leveled compaction',
        'write amplification falls from {n} to 4 on the Halden trace',
        'reads touch too many segments once a tenant has over {N} of them',
      ],
      [
        'a footer with CRC32C per block',
        'one SHA-256 per segment',
        'a damaged block can be skipped without losing the rest',
        'the per-block sums cost {pct} % of the write throughput',
      ],
      [
        'compaction in a worker thread',
        'compaction in the main loop between requests',
        'the p99 of writes no longer follows the merge size',
        'copying buffers to the worker doubles the resident memory',
      ],
      [
        'deleting old segments after a grace period of {d} hours',
        'reference counts per segment',
        'a crashed reader cannot leak a count',
        'disks of small tenants fill up during the grace period',
      ],
    ],
    [
      [
        'the Halden trace with its {N} segments is gone from the bucket, so merge behaviour ' +
          'cannot be replayed',
        'Priya restored the trace from the March snapshot',
      ],
      [
        'compaction hangs on the arm64 runner and nobody has a core dump yet',
        'it was the futex bug of kernel 6.1.{n}, runners are on 6.6 now',
      ],
      [
        'format version {n} of the manifest needs a sign-off from the backup team',
        'Marek signed off on the version bump by mail',
      ],
    ],
    [
      [
        'Compaction may never take more than {a} % of one core on the shared hosts.',
        'Please remember the merge work has to stay under {a} percent of a core where ' +
          'customers share a machine.',
      ],
      [
        'A store written by the previous two releases has to open without conversion.',
        'Customers skip versions: data from two releases back must simply open, no migration step.',
      ],
    ],
  ),
  topic(
    'storage',
    ['the write-ahead log', 'WAL recovery', 'log replay'],
    ['src/store/wal.ts', 'src/store/recover.ts', 'src/store/fsync-queue.ts'],
    'npx vitest run test/store/wal.test.ts',
    [
      'replay stops at the first torn record although {n} intact ones follow it in the same page',
      'group commit waits the full {ms} ms even when only one writer is queued',
      'fsyncQueue.drain resolves before the last batch is on disk when close() races with it',
      'a WAL of {mb} MB replays in {n} seconds on the office NVMe and in over four minutes on gp3',
      'records longer than 64 KiB are split but the continuation flag is lost on big-endian ' +
        'test data',
      'the sequence number is reused after a crash between append and rotate',
      'preallocating the log with fallocate halves the latency spikes, except on btrfs',
      'recover.ts swallows EIO and reports an empty log, which looks like a fresh install',
    ],
    [
      'skip torn records by scanning for the next valid header',
      'flush a group commit early when the queue is idle',
      'make close() wait for the drain of fsyncQueue',
      'report EIO during recovery instead of treating it as an empty log',
      'rotate the log at {mb} MB and keep {n} old files',
      'add a crash test that kills the process at every write call',
      'store the highest sequence number in the rotated file name',
    ],
    [
      [
        'one WAL per shard',
        'one WAL for the process',
        'a slow shard no longer delays the fsync of others',
        '{n} fsyncs per tick saturate the cheap disks',
      ],
      [
        'O_DSYNC on the log file',
        'explicit fdatasync calls',
        'it removes a syscall from every group commit',
        'the ZFS hosts fall to {N} writes per second with it',
      ],
      [
        'length-prefixed binary records',
        'JSON lines in the log',
        'replay is {n} times faster and needs no escaping',
        'support cannot read the log of a broken customer by eye',
      ],
      [
        'truncating the log at the first torn record',
        'keeping everything after it',
        'nothing after a tear was ever acknowledged',
        'acknowledged records were found behind a tear in incident {N}',
      ],
    ],
    [
      [
        'the crash-test rig needs the power relay that is on loan to the hardware team until ' +
          'the {d}th',
        'the relay is back on shelf B{n}',
      ],
      [
        'fdatasync returns success on the loopback disks of CI, so lost writes cannot be ' +
          'provoked there',
        'CI now uses dm-flakey to drop writes',
      ],
      [
        'no one knows whether acknowledged writes may be lost for the free tier',
        'product says: never, on no tier',
      ],
    ],
    [
      [
        'An acknowledged write must survive pulling the plug, on every tier.',
        'To repeat: once we said yes to a write, a power cut must not lose it, free tier included.',
      ],
      [
        'Restart after a crash has to be done in under {a} seconds for the largest tenant.',
        'The biggest customer accepts at most {a} s of downtime when a node comes back after a ' +
          'crash.',
      ],
    ],
  ),
  topic(
    'storage',
    ['schema migrations', 'the migration runner', 'moving tables to the new layout'],
    ['db/migrations/0042_events_partition.sql', 'src/db/migrate.ts', 'src/db/backfill.ts'],
    'npm run test:migrations',
    [
      'the backfill of events locks the parent table for {n} seconds at every partition attach',
      'migration {N} was edited after it ran in staging, so its hash differs there',
      'rows from before 2019 have no tenant_id and fall into the default partition',
      'statement_timeout of the pooler kills the backfill after {n} minutes without rolling ' +
        'back the cursor',
      'autovacuum starts on events_2021 in the middle of the copy and doubles its duration',
      'the down migration of 0042 drops an index that 0039 created',
      'pg_dump of the partitioned table is {pct} % larger because of repeated column defaults',
      'two deploys at once both take the advisory lock since the key is computed from the host ' +
        'name',
    ],
    [
      'attach partitions with a NOT VALID check first to avoid the long lock',
      'give rows without tenant_id the tenant of their parcel before the copy',
      'derive the advisory lock key from the database name',
      'resume the backfill from backfill_cursor after a timeout',
      'delete the down migrations that were never tried',
      'rehearse 0042 on the restored copy of production with {N} million rows',
      'refuse to start when a migration that already ran has another hash',
    ],
    [
      [
        'partitioning events by month',
        'partitioning events by tenant',
        'deleting old data becomes a detach',
        'the {n} largest tenants still share one hot partition',
      ],
      [
        'expand-and-contract in three deploys',
        'one migration in a maintenance window',
        'support promised no window before the autumn',
        'keeping both layouts in step cost more than a night of downtime',
      ],
      [
        'plain SQL files',
        'migrations written in TypeScript',
        'the DBA of Wessling reviews them and reads no TypeScript',
        'the backfill needs loops and retries that SQL alone makes unreadable',
      ],
      [
        'a backfill batch of {N} rows',
        'a batch by time range',
        'the lock time stays even whatever the density of the data',
        'sparse years take thousands of empty round trips',
      ],
    ],
    [
      [
        'the restored production copy is out of disk at {pct} % of the backfill',
        'ops moved the copy to a 2 TB volume',
      ],
      [
        'Wessling has to approve the new layout before it may run in their dedicated cluster',
        'their DBA approved it with the condition of a rollback script',
      ],
      [
        'the replica lags {n} hours since the trial backfill and must not be used for rehearsals',
        'the replica was rebuilt from a base backup',
      ],
    ],
    [
      [
        'No migration may lock events for more than {a} seconds while shops are open.',
        'During opening hours the events table must never be locked longer than {a} s.',
      ],
      [
        'Every migration needs a way back that somebody has actually tried.',
        'I want a rehearsed rollback for each schema change, not a down file nobody ever ran.',
      ],
    ],
  ),
  topic(
    'api',
    ['cursor pagination', 'paging through lists', 'the list endpoints'],
    ['src/api/pagination.ts', 'src/api/routes/parcels.ts', 'openapi/parcels.yaml'],
    'npx vitest run test/api/pagination.test.ts',
    [
      'the cursor skips rows that share a created_at to the millisecond, {n} of {N} in the sample',
      'clients built with SDK {ver} send page=1 and limit together and get an empty list',
      'encodeCursor leaks the internal row id, which Lindqvist already parses in their scripts',
      'sorting by status cannot use idx_parcels_tenant and scans {N} thousand rows per page',
      'the total count alone takes {ms} ms, more than the page itself',
      'a cursor made before a deploy is rejected with 500 instead of 410',
      'limit=0 returns everything because of the falsy check in readLimit',
      'HEAD requests on lists run the full query and throw the rows away',
    ],
    [
      'add the row id as a tie-breaker to the cursor',
      'answer 410 with a hint when a cursor has an unknown version',
      'cap limit at {N} and document the cap in openapi/parcels.yaml',
      'drop the total count from list responses unless it is asked for',
      'sign cursors so that clients stop building their own',
      'move readLimit and readSort into one parser with tests for odd input',
      'port the three remaining list routes to withCursor',
    ],
    [
      [
        'opaque signed cursors',
        'offset and limit',
        'inserts during paging no longer shift the pages',
        'Lindqvist jumps to page {N} directly and cannot with cursors',
      ],
      [
        'a Link header for the next page',
        'a next field in the body',
        'generic HTTP clients follow it without knowing our schema',
        'browsers of two customers strip the header in their proxy',
      ],
      [
        'an estimated total from pg_class',
        'an exact count',
        'nobody needs more than the magnitude',
        'the estimate was off by {pct} % for small tenants, who notice',
      ],
      [
        'cursors valid for {d} days',
        'cursors that never expire',
        'old index versions can be dropped at some point',
        'nightly syncs that pause over a holiday lose their place',
      ],
    ],
    [
      [
        'the SDK team has not released the version that follows next links, so old paging ' +
          'cannot go',
        'SDK {ver} is out and follows them',
      ],
      [
        'idx_parcels_status cannot be built concurrently while the long report query runs ' +
          'every {n} minutes',
        'the report moved to the replica',
      ],
      [
        'contract tests of Lindqvist fail against staging and their contact is on leave',
        'their test expected page numbers, they fixed it',
      ],
    ],
    [
      [
        'Old SDKs back to {ver} have to keep working against the list endpoints until the end ' +
          'of the year.',
        'Until December nothing may break for shops that still run an SDK as old as {ver}.',
      ],
      [
        'Lists must answer within {b} ms at the 95th percentile for a tenant with ten million ' +
          'parcels.',
        'Paging has a budget: p95 of {b} ms even for the tenant with 10 M parcels.',
      ],
    ],
  ),
  topic(
    'api',
    ['webhook delivery', 'outgoing webhooks', 'notifying subscribers'],
    ['src/hooks/deliver.ts', 'src/hooks/signature.ts', 'src/hooks/retry-queue.ts'],
    'npx vitest run test/hooks',
    [
      'one subscriber that answers after {n} s blocks the {n2} others in the same delivery slot',
      'retries keep the first timestamp, so receivers with a five-minute window reject the ' +
        'signature',
      'the retry queue forgets its order after a restart because nextAttempt is only in memory',
      'redirects to private addresses are followed, which reaches the metadata service in AWS',
      'Brightwater sends back 200 with an HTML login page and we count it as delivered',
      'payloads above {n} KB are cut by their gateway and fail the signature check',
      'the dead-letter table grew to {N} thousand rows since nothing ever deletes from it',
      'deliver.ts resolves DNS once per process, so moved endpoints fail until the next deploy',
    ],
    [
      'sign every retry with the time of the attempt',
      'persist nextAttempt in retry_queue and resume by it',
      'reject redirects and private addresses in deliver.ts',
      'give each subscriber its own concurrency of {n}',
      'expire dead letters after {d} days and show them in the console',
      'switch a subscriber off after {N} failures and mail its owner',
      'send the event id as Idempotency-Key with each attempt',
    ],
    [
      [
        'at-least-once delivery with event ids',
        'exactly-once by a two-step handshake',
        'subscribers already deduplicate by id',
        'Brightwater books twice on each duplicate and will not change',
      ],
      [
        'exponential backoff up to {n} hours',
        'a fixed retry every ten minutes',
        'a dead endpoint costs 12 calls a day instead of 144',
        'shops wait half a day for events after a short outage',
      ],
      [
        'Ed25519 signatures',
        'HMAC with a shared secret',
        'a leaked subscriber database no longer lets anybody forge events',
        'PHP hosts without libsodium cannot verify them',
      ],
      [
        'the Postgres table as the queue',
        'a Redis stream',
        'one backup covers events and their deliveries',
        'SKIP LOCKED polls cost {pct} % of the primary at peak',
      ],
    ],
    [
      [
        'the egress proxy drops connections after {n} seconds, which kills slow subscribers',
        'ops raised the idle time of the proxy to 120 s',
      ],
      [
        'Brightwater rotated its secret without telling us and {N} events wait',
        'they sent the new secret through the vault',
      ],
      [
        'legal has not answered whether payloads may carry the name of the recipient',
        'legal allows the first name only',
      ],
    ],
    [
      [
        'An event must reach a healthy subscriber within {a} seconds.',
        'Shops print labels from these events: {a} s from event to webhook is the longest they ' +
          'tolerate.',
      ],
      [
        'Never call an address inside our own network from a webhook.',
        'Whatever URL a customer types in, we do not open connections to private ranges.',
      ],
    ],
  ),
  topic(
    'api',
    ['rate limiting', 'the request quota', 'throttling of clients'],
    ['src/api/rate-limit.ts', 'src/api/quota-store.ts', 'config/quotas.json'],
    'npx vitest run test/api/rate-limit.test.ts',
    [
      'the sliding window double-counts requests that cross a node, so limits bite at {pct} % ' +
        'of the quota',
      'Retry-After is sent in milliseconds, clients then sleep for {n} days',
      'quota-store loses its counters in a Redis failover of about {n} seconds',
      'health checks of the load balancer count against the anonymous quota',
      'burst traffic of label printers at 06:00 is {N} requests in {n} seconds per shop',
      'an invalid token is only counted after the database look-up, which is the expensive part',
      'config/quotas.json is read once, the console shows a changed quota that is not in force',
      'IPv6 clients get one bucket per address and so have no limit in practice',
    ],
    [
      'send Retry-After in whole seconds',
      'bucket IPv6 clients by their /64',
      'exempt the probes of the load balancer by their path',
      'count rejected tokens before the look-up',
      'reload quotas.json on SIGHUP and log the difference',
      'allow a burst of {N} for label printers between 05:30 and 07:00',
      'let requests through when quota-store is unreachable for under {n} s',
    ],
    [
      [
        'a token bucket per API key',
        'a sliding window per tenant',
        'a runaway script of one key leaves the others alone',
        'tenants mint {n} keys to escape the limit',
      ],
      [
        'limits enforced at the edge proxy',
        'limits enforced in the service',
        'rejected calls cost no Node time',
        'the proxy cannot see which calls are cheap',
      ],
      [
        'failing open when Redis is gone',
        'failing closed',
        'an outage of the counter is not an outage of the product',
        'the last outage let a crawler take {N} parcels a minute',
      ],
      [
        'costs by endpoint, with exports worth {n} points',
        'each request counts as one',
        'exports are what hurts',
        'no customer understood the points in the trial',
      ],
    ],
    [
      [
        'nobody may see the Redis metrics of the payment cluster that the quota store lives in',
        'we got our own Redis, quota-{n}',
      ],
      [
        'the edge team freezes its proxy configuration until the {d}th',
        'the freeze is over and the change is merged',
      ],
      [
        'load tests from the office are blocked by the new firewall after {N} connections',
        'tests run from the Frankfurt runner now',
      ],
    ],
    [
      [
        'Label printers in the morning must never see a 429.',
        'Between half past five and seven no printer may be throttled, that was the whole ' +
          'reason for this work.',
      ],
      [
        'Quotas may be changed without a deploy.',
        'Support should set a quota themselves, without asking for a release.',
      ],
    ],
  ),
  topic(
    'ui',
    ['the parcel table', 'the grid of parcels', 'the big list view'],
    ['web/src/parcels/Table.tsx', 'web/src/parcels/useRows.ts', 'web/src/parcels/columns.ts'],
    'npm --prefix web test -- parcels',
    [
      'selecting {N} rows rerenders every cell because the selection set is a new object each time',
      'keyboard focus is lost when the virtualised row scrolls out, screen readers then start ' +
        'at the top',
      'the column widths in localStorage are keyed by index and move when a column is hidden',
      'useRows fetches page {n} twice under StrictMode and the slower answer overwrites the newer',
      'Safari 16 paints sticky headers under the first row when zoomed to {pct} %',
      'dates are formatted in the time zone of the browser, the depot in Porto reads them an ' +
        'hour off',
      'the filter drop-down mounts {N} options at once for tenants with many depots',
      'copying cells pastes the status codes instead of their labels',
    ],
    [
      'keep the selection in a ref and rerender only the changed rows',
      'return focus to the row that had it after it scrolls back in',
      'key the stored widths by column id and migrate the old entry',
      'abort the earlier request in useRows when the filter changes',
      'format all dates in the zone of the depot',
      'virtualise the depot filter beyond {N} options',
      'put labels rather than codes on the clipboard',
    ],
    [
      [
        'our own virtual list of {N} lines',
        'TanStack Virtual',
        'row heights change while scrolling and the library jumps',
        'nobody but Jonas understands the measuring code',
      ],
      [
        'sorting on the server',
        'sorting in the browser',
        'more than one page exists for {pct} % of tenants',
        'small shops feel the round trip on every click',
      ],
      [
        'CSS grid for the rows',
        'a real table element',
        'sticky columns work without measuring',
        'NVDA reads no row numbers from it',
      ],
      [
        'saving views in the profile',
        'saving views in the URL',
        'dispatchers change desks and want their columns there',
        'links in tickets no longer show what the sender saw',
      ],
    ],
    [
      [
        'design has not decided how {n} statuses are told apart without colour',
        'design sent icons for all of them',
      ],
      [
        'the staging tenant with a million parcels was wiped, so scrolling cannot be measured',
        'seed job {N} filled it again',
      ],
      [
        'NVDA licence for the test laptop is not installed and accessibility cannot be checked',
        'Ines has a laptop with it',
      ],
    ],
    [
      [
        'The table has to be usable by keyboard alone, all of it.',
        'Dispatchers at Halden work without a mouse, so every action in the list needs a key.',
      ],
      [
        'Scrolling through {N} parcels must stay smooth on the old depot tablets.',
        'Test on the slow tablets from the depots: {N} rows and no stutter.',
      ],
    ],
  ),
  topic(
    'ui',
    ['the map view', 'drawing routes on the map', 'vehicle tracking on screen'],
    ['web/src/map/RouteLayer.ts', 'web/src/map/tiles.ts', 'web/src/map/useVehicles.ts'],
    'npm --prefix web test -- map',
    [
      'RouteLayer rebuilds its geometry for each of the {N} position messages a minute',
      'tiles of the old provider are cached for {d} days, so the switch is invisible for ' +
        'returning users',
      'vehicles near the date line jump across the map because longitudes are averaged',
      'useVehicles leaks its socket when the tab is in the background for more than {n} minutes',
      'WebGL contexts are limited to {n} in the embedded browser of the depot terminal',
      'clusters of more than {N} stops hide the one that is late',
      'the attribution text of the provider is covered by our zoom buttons on narrow screens',
      'positions older than {n} min are drawn like fresh ones',
    ],
    [
      'update vehicle positions in place instead of rebuilding the layer',
      'close the socket of hidden tabs and resume with the last position id',
      'grey out vehicles without news for {n} minutes',
      'never cluster a late stop with others',
      'share one WebGL context between map and mini-map',
      'move the attribution out from under the zoom buttons',
      'average longitudes on the unit circle in boundsOf',
    ],
    [
      [
        'MapLibre with our own tile server',
        'the hosted tiles of Cartiva',
        'the bill grows with drivers, {N} euro last month',
        'the tile server needs {n} GB of memory on call at night',
      ],
      [
        'server-sent events for positions',
        'a WebSocket',
        'they pass the proxy of the Porto depot',
        'six connections per host are used up by {n} open tabs',
      ],
      [
        'vector tiles',
        'raster tiles',
        'labels stay upright when the map turns',
        'depot terminals draw them at {n} frames a second',
      ],
      [
        'snapping positions to roads on the server',
        'snapping in the browser',
        'old terminals have no time left for it',
        'ferries and yards are snapped to the wrong road',
      ],
    ],
    [
      [
        'the licence of the satellite tiles forbids printing and Halden prints its routes',
        'sales bought the print option',
      ],
      [
        'the depot terminal only gets Chrome {n} after the rollout in spring',
        'IT moved the rollout forward, all terminals are updated',
      ],
      [
        'no recorded day of positions exists that may be used in tests',
        'Wessling released an anonymised day',
      ],
    ],
    [
      [
        'Driver positions may be shown to dispatchers only while the driver is on shift.',
        'Works council again: outside a shift nobody is allowed to see where a driver is.',
      ],
      [
        'The map has to load in {a} seconds over the depot line of 4 Mbit.',
        'With their 4 Mbit line the map needs to appear within {a} s.',
      ],
    ],
  ),
  topic(
    'ui',
    ['the label designer', 'editing label layouts', 'print templates'],
    ['web/src/labels/Designer.tsx', 'web/src/labels/zpl.ts', 'web/src/labels/fonts.ts'],
    'npm --prefix web test -- labels',
    [
      'zpl.ts rounds millimetres to dots before adding them, labels drift by {n} dots over a sheet',
      'undo keeps {N} copies of the whole template, logos included, until the tab dies',
      'Code 128 switches to subset C in the middle of an odd run and the Sato scanners refuse it',
      'the Zebra ZD{N} ignores ^CI28, umlauts arrive as question marks',
      'fonts.ts loads all {n} fonts before the first preview is drawn',
      'templates saved by {ver} hold absolute image URLs of the old bucket',
      'the preview uses 203 dpi although half of the printers in Porto have 300',
      'dragging two fields at once writes their positions in one undo step but restores only one',
    ],
    [
      'add in micrometres and round once when writing ZPL',
      'store undo steps as patches instead of whole templates',
      'choose the Code 128 subset for the whole run',
      'let the user choose the printer resolution for the preview',
      'rewrite image URLs of old templates when they are opened',
      'load fonts when a field first uses them',
      'fall back to ^A@ with an uploaded font on printers without UTF-8',
    ],
    [
      [
        'rendering previews with our ZPL interpreter',
        'the Labelary service',
        'addresses of recipients stay in house',
        '{n} commands are still drawn wrongly',
      ],
      [
        'templates as JSON documents',
        'templates as raw ZPL',
        'fields can be bound to data and checked',
        'partners send finished ZPL and lose details in the conversion',
      ],
      [
        'SVG for the canvas',
        'a 2D canvas',
        'fields are elements with names for tests and readers',
        'labels with {N} fields drag at four frames a second',
      ],
      [
        'one template per carrier',
        'one template with conditions',
        'carriers certify a fixed layout',
        'a new logo has to be changed in {n} places',
      ],
    ],
    [
      [
        'the certification of the DPD label needs {n} printed samples and the test printer is ' +
          'broken',
        'the printer was replaced and the samples are in the post',
      ],
      [
        'the barcode font licence covers two developers only',
        'we draw the bars ourselves and need no font',
      ],
      [
        'Sato has not answered which firmware accepts subset switches',
        'firmware {ver} and later does',
      ],
    ],
    [
      [
        'A label that was certified must come out dot for dot the same after every release.',
        'Carriers certify our labels: not one dot may move in a certified layout.',
      ],
      [
        'Addresses of recipients may not leave our servers for a preview.',
        'No external rendering service, the address on a label is personal data.',
      ],
    ],
  ),
  topic(
    'ops',
    ['the deploy pipeline', 'releasing', 'continuous delivery'],
    ['.github/workflows/deploy.yml', 'scripts/release.sh', 'deploy/canary.yaml'],
    'npm run test:deploy',
    [
      'the canary gets {pct} % of the traffic but none of the webhooks, so it never fails on them',
      'release.sh tags before the image is pushed, a failed push leaves a tag without an image',
      'the cache key of the workflow contains the run number and never hits',
      'rolling back takes {n} minutes because the old image is pulled again on all {n2} nodes',
      'secrets of the staging job are readable in forks through the debug output of step {n}',
      'two merges within {n} s deploy in the wrong order',
      'the smoke test passes against the old pods since it runs before the switch',
      'images grew to {N} MB when the fonts moved into the base layer',
    ],
    [
      'push the image before the tag in release.sh',
      'serialise deploys with a concurrency group',
      'run the smoke test against the canary by its pod name',
      'keep the last {n} images on every node',
      'route a share of webhooks to the canary',
      'drop the run number from the cache key',
      'sign images and refuse unsigned ones in the cluster',
    ],
    [
      [
        'canary releases by tenant',
        'canary releases by share of traffic',
        'one customer sees one version all day',
        'all friendly tenants are small and load bugs stay hidden',
      ],
      [
        'trunk-based releases every day',
        'a release train on Tuesdays',
        'a change is found broken while its author remembers it',
        'support wants notes and {n} days of warning',
      ],
      [
        'building images with BuildKit on the runner',
        'Kaniko in the cluster',
        'layers are cached between branches',
        'the runner fills its disk every {d} days',
      ],
      [
        'rolling back automatically on {pct} % errors',
        'paging somebody to decide',
        'nights are quiet and a rollback is harmless',
        'a bad client caused three rollbacks of good releases',
      ],
    ],
    [
      [
        'the signing key for images is on the laptop of Tomas, who is away until the {d}th',
        'the key moved to the KMS',
      ],
      [
        'GitHub runners are capped at {n} at once and the matrix needs more',
        'finance approved the larger plan',
      ],
      [
        'the cluster upgrade to 1.{n} removes the API that canary.yaml uses',
        'canary.yaml uses the stable API now',
      ],
    ],
    [
      [
        'No deploys on Fridays after {a} o’clock, and none in the week before Christmas.',
        'Again no releases late on a Friday, {a} is the limit.',
      ],
      [
        'Every release must be possible to undo within {a} minutes by whoever is on call.',
        'The person on call has to get back to the old version in {a} min without help.',
      ],
    ],
  ),
  topic(
    'ops',
    ['alerting', 'the on-call alerts', 'monitoring rules'],
    ['deploy/alerts/latency.yaml', 'deploy/alerts/queues.yaml', 'docs-ops/runbook.md'],
    'promtool test rules deploy/alerts/tests.yaml',
    [
      'the latency alert averages over tenants, Wessling had {n} s answers for an hour unnoticed',
      '{pct} % of the pages of last month resolved themselves within two minutes',
      'the queue alert looks at length, but a stuck queue of {n} entries never reaches the ' +
        'threshold',
      'Prometheus keeps {d} days, so a weekly comparison is impossible in spring',
      'the label tenant_id makes {N} thousand series and the server restarts at night',
      'alerts for staging go to the same channel and people have muted it',
      'the runbook link of HighErrorRate points to a page that was deleted in {ver}',
      'node clocks differ by up to {ms} ms, which shows as negative latencies',
    ],
    [
      'alert on the age of the oldest queue entry instead of the length',
      'measure latency per tenant class with recording rules',
      'drop tenant_id from the histogram and keep it in traces',
      'send staging alerts to a channel of their own',
      'write the runbook page for HighErrorRate',
      'require two windows of {n} minutes before paging',
      'alert when chrony reports more than {ms} ms of offset',
    ],
    [
      [
        'burn-rate alerts on an SLO of 99.{n}',
        'fixed thresholds',
        'a slow leak pages too, a short spike does not',
        'nobody on call could say what the page meant',
      ],
      [
        'Grafana alerting',
        'Alertmanager files in git',
        'support edits silences without a merge',
        'a rule vanished and nobody could see who did it',
      ],
      [
        'sampling {pct} % of traces',
        'keeping all traces of errors only',
        'slow but successful calls can be explained',
        'rare errors of small tenants are never in the sample',
      ],
      [
        'one rota for all services',
        'a rota per team',
        'with {n} people nobody is on call every week',
        'front-end people cannot help with the store at night',
      ],
    ],
    [
      [
        'the contract with the pager service ends on the {d}th and purchase has not renewed it',
        'it is renewed for a year',
      ],
      [
        'metrics of the Porto cluster do not arrive since the VPN change',
        'the route for 10.{n}.0.0 was missing',
      ],
      ['nobody owns the alert for the mail relay', 'Ines took it over'],
    ],
    [
      [
        'Nobody is woken for something that can wait until {a} in the morning.',
        'If it can wait until {a} o’clock, it must not page at night.',
      ],
      [
        'Each alert needs a runbook page before it may page a person.',
        'No page without a runbook, please keep to that.',
      ],
    ],
  ),
  topic(
    'ops',
    ['backups', 'restore drills', 'disaster recovery'],
    ['scripts/backup.sh', 'scripts/restore-drill.sh', 'deploy/backup-cron.yaml'],
    'bash scripts/restore-drill.sh --small',
    [
      'the nightly dump takes {n} hours and overlaps with the report run since May',
      'restore-drill.sh checks row counts only, a dump with empty JSON columns passed',
      'the bucket versioning keeps {N} GB of deleted dumps that are still paid for',
      'WAL archives between {n} and {n2} o’clock are missing on each first of the month',
      'the dump is encrypted to a key that expired in June',
      'restoring needs {n} extensions that are not in the base image',
      'backup.sh exits 0 when the upload is cut, because of the pipe without pipefail',
      'the drill restores into the same region and proves nothing about losing it',
    ],
    [
      'set pipefail in backup.sh and check the size of the upload',
      'compare checksums of {n} sampled tables in the drill',
      'renew the encryption key and re-encrypt the last {d} dumps',
      'restore into the second region once a month',
      'move the dump to the replica',
      'expire noncurrent versions after {d} days',
      'bake the extensions into the restore image',
    ],
    [
      [
        'pgBackRest with incremental backups',
        'pg_dump every night',
        'a restore to any minute of {d} days becomes possible',
        'single tenants can no longer be restored alone',
      ],
      [
        'age for encryption',
        'GPG',
        'the key is one line in the vault',
        'the auditor’s list has no age on it',
      ],
      [
        'a cold copy at a second provider',
        'a second region only',
        'one stolen root account cannot delete both',
        'egress costs {N} euro a month',
      ],
      [
        'keeping dumps for {d} weeks',
        'keeping them for a year',
        'deleted persons are really gone sooner',
        'Halden found a loss after five months',
      ],
    ],
    [
      ['the second region has no quota for the volume size we need', 'quota was raised to {n} TB'],
      ['the vault policy forbids the cron job to read the new key', 'policy backup-read was added'],
      [
        'the auditor wants a drill with production data and the DPO has not agreed',
        'the DPO agreed for one named machine',
      ],
    ],
    [
      [
        'We promise to lose at most {a} minutes of data, so nothing may weaken that.',
        'The contract says {a} min of loss at the most, keep every change within it.',
      ],
      [
        'Backups must be unreadable to whoever runs the storage.',
        'The storage provider must not be able to read a dump, encrypted before upload.',
      ],
    ],
  ),
  topic(
    'billing',
    ['invoice runs', 'the monthly invoices', 'creating invoices'],
    ['src/billing/run.ts', 'src/billing/lines.ts', 'src/billing/rounding.ts'],
    'npx vitest run test/billing/run.test.ts',
    [
      'rounding per line and per invoice differ by up to {n} cents, Brightwater complains each ' +
        'month',
      'a run that is started twice numbers {n} invoices twice because the sequence is taken ' +
        'before the lock',
      'parcels scanned after midnight UTC but before midnight in Porto land in the wrong month',
      'credit notes are subtracted before the volume discount although the contract says after',
      'run.ts holds one transaction for all {N} tenants and blocks the vacuum for hours',
      'the VAT table has no entry for Northern Ireland since {ver}',
      'lines of zero euro are printed for tenants with a flat fee, {n} pages for Halden',
      'the PDF service times out after {n} s and the invoice stays in the state rendering',
    ],
    [
      'take invoice numbers inside the lock',
      'commit the run tenant by tenant and make it resumable',
      'assign parcels to months in the time zone of the contract',
      'round once per invoice and carry the rest in a line of its own',
      'leave out lines of zero euro for flat fees',
      'apply credit notes after the discount',
      'retry the PDF step {n} times and alert on the rest',
    ],
    [
      [
        'integers in cents',
        'decimal strings',
        'sums are exact and the database can add them',
        'prices per gram have {n} decimals',
      ],
      [
        'invoices generated on the first at 04:00',
        'invoices generated when support presses a button',
        'nobody forgets them over a holiday',
        'wrong prices went out to {N} customers before anybody looked',
      ],
      [
        'gapless numbers per legal entity',
        'one sequence for all',
        'the Portuguese tax office asks for it',
        'moving a customer between entities breaks its history',
      ],
      [
        'storing the rendered PDF',
        'rendering on demand',
        'the document the customer got is the one we show',
        'the archive grows by {n} GB a month',
      ],
    ],
    [
      [
        'the tax adviser has not confirmed the reverse-charge text for Norway',
        'text confirmed, paragraph {n} applies',
      ],
      [
        'production prices of Wessling are only in a spreadsheet of sales',
        'sales entered them, {N} rows',
      ],
      [
        'the test account of the PDF service is limited to {n} documents a day',
        'we got an unlimited sandbox',
      ],
    ],
    [
      [
        'An invoice that was sent may never change, corrections are credit notes.',
        'Once out, an invoice is fixed for good: make a credit note instead of touching it.',
      ],
      [
        'Amounts must match the old system to the cent for the {a} months we compare.',
        'Finance compares {a} months with the old system and accepts no cent of difference.',
      ],
    ],
  ),
  topic(
    'billing',
    ['usage metering', 'counting billable events', 'the meter'],
    ['src/meter/collect.ts', 'src/meter/rollup.ts', 'src/meter/dedupe.ts'],
    'npx vitest run test/meter',
    [
      'dedupe.ts forgets keys after {n} hours, the Porto scanner uploads up to {d} days late',
      'rollup counts a parcel twice when it changes the depot during the hour',
      'the collector drops events without a price class instead of parking them, {N} in April',
      'hourly rollups of {N} tenants start at the same second and starve the API',
      'test parcels are billed when their prefix is lower case',
      'events from the sandbox reach the meter through the shared topic',
      'a rollup repeated after a correction adds to the old sum rather than replacing it',
      'the bloom filter has a false-positive rate of {pct} % at the current volume, that is ' +
        'lost revenue',
    ],
    [
      'replace a rollup in one statement instead of adding to it',
      'park events without a price class in meter_parked',
      'keep dedupe keys for {d} days in a partitioned table',
      'spread the hourly rollups over {n} minutes by tenant hash',
      'ignore test parcels whatever the case of their prefix',
      'split the sandbox topic from production',
      'reconcile meter and parcels every night and report the difference',
    ],
    [
      [
        'deduplication by event id in Postgres',
        'a bloom filter in memory',
        'no event is lost to a false positive',
        'the unique index is {n} GB and slows each insert',
      ],
      [
        'billing the depot that scanned first',
        'billing the depot that delivered',
        'the first scan is never disputed',
        'subcontractors scan first and are not our customers',
      ],
      [
        'hourly rollups',
        'streaming sums',
        'a correction means running one hour again',
        'the console shows usage up to {n} minutes late',
      ],
      [
        'metering from the scan events',
        'metering from the parcel table',
        'history is kept when a parcel is edited',
        'events get lost in the field and the table is complete',
      ],
    ],
    [
      ['finance has not said how a returned parcel counts', 'a return counts as {n} parcels'],
      [
        'the scanner vendor changes its event ids with firmware {ver}',
        'the old id stays in the field legacyId',
      ],
      ['access to the April events needs the approval of two directors', 'approved for a week'],
    ],
    [
      [
        'When in doubt, count too little: never bill something twice.',
        'A missed parcel is annoying, one billed twice costs a customer, so decide for the ' +
          'lower count.',
      ],
      [
        'Usage of a day has to be final by {a} o’clock on the next.',
        'Customers fetch yesterday’s usage at {a}, it must not change after that.',
      ],
    ],
  ),
  topic(
    'billing',
    ['payment matching', 'bank reconciliation', 'assigning payments'],
    ['src/payments/match.ts', 'src/payments/camt053.ts', 'src/payments/dunning.ts'],
    'npx vitest run test/payments',
    [
      'camt053.ts reads the booking date instead of the value date, reminders go out {n} days ' +
        'early',
      'payers write the invoice number with blanks, {pct} % of the unmatched are only that',
      'a payment for {n} invoices at once is matched to the first and the rest stays as credit',
      'the bank sends a file twice after an outage and match.ts books it twice',
      'dunning ignores the agreed term of {d} days for Wessling',
      'amounts in NOK are compared with the euro sum without the rate of the day',
      'the file of the {d}th is ISO-8859-1 although its header says UTF-8',
      'refunds have a negative sign in one bank and a flag in the other',
    ],
    [
      'use the value date for all due dates',
      'normalise references by dropping blanks, dots and leading zeros',
      'split a payment over several invoices when the sum fits exactly',
      'remember the message id of each bank file and skip repeats',
      'respect the agreed payment term in dunning.ts',
      'convert with the rate of the value date and allow {n} cents',
      'let finance undo a match with one click',
    ],
    [
      [
        'automatic matching above a score of 0.{n}',
        'suggesting and letting finance confirm',
        'finance spends two days a month on obvious cases',
        'one wrong match stopped the deliveries of Brightwater',
      ],
      [
        'polling the bank by EBICS every {n} minutes',
        'uploading files by hand',
        'money is seen the same day',
        'the EBICS user of the bank is bound to a person who left',
      ],
      [
        'three reminders, {d} days apart',
        'one reminder and a call',
        'most pay at the second',
        'large customers felt insulted',
      ],
      [
        'keeping overpayments as credit',
        'paying them back',
        'the next invoice uses it up',
        'the auditor counts them as deposits',
      ],
    ],
    [
      [
        'the bank has to activate camt.053 for the second account',
        'activated, first file came on the {d}th',
      ],
      ['no samples with foreign currencies exist', 'finance exported {n} anonymised ones'],
      [
        'the collection agency wants SFTP and security has not approved its host',
        'host approved until the end of the year',
      ],
    ],
    [
      [
        'A customer with an open dispute never gets a reminder.',
        'No reminders while a dispute is open, Wessling threatened to leave over that.',
      ],
      [
        'Finance must be able to see why a payment was matched.',
        'Each match needs a reason that finance can read.',
      ],
    ],
  ),
  topic(
    'ingest',
    ['the scanner gateway', 'receiving scans', 'scan intake'],
    ['src/ingest/gateway.ts', 'src/ingest/frames.ts', 'src/ingest/backpressure.ts'],
    'npx vitest run test/ingest/gateway.test.ts',
    [
      'frames.ts assumes one frame per packet, {pct} % of scans from Porto are split over two',
      'the gateway acknowledges before the write is queued, a restart loses up to {N} scans',
      'scanners reconnect all at once after an outage, {N} TLS handshakes take {n} s',
      'a scanner with a wrong clock sends dates in {n}0 years and breaks the partitioning',
      'backpressure pauses the socket but the kernel buffer still takes {n} MB',
      'firmware {ver} sends the depot id as text, older ones as a number',
      'keep-alive of {n} s is longer than the NAT timeout of the mobile network',
      'duplicate device ids exist for {n} refurbished scanners',
    ],
    [
      'reassemble frames across packets in frames.ts',
      'acknowledge only after the scan is in the queue on disk',
      'reject dates more than {d} days ahead and keep the raw scan',
      'add jitter of up to {n} s to the reconnect advice',
      'accept the depot id as text or number',
      'shorten the keep-alive to {n} seconds for mobile devices',
      'identify devices by certificate instead of by id',
    ],
    [
      [
        'a binary protocol over TLS',
        'MQTT',
        'old firmware speaks nothing else',
        'every proxy in between needs an exception',
      ],
      [
        'one process per depot',
        'one process for all',
        'a bad depot cannot stop the rest',
        '{N} idle processes eat the memory of the host',
      ],
      [
        'keeping raw frames for {d} days',
        'keeping parsed scans only',
        'parser bugs can be repaired afterwards',
        'raw frames hold names in free text',
      ],
      [
        'dropping the oldest scans on overload',
        'refusing new ones',
        'the latest position is what customers look at',
        'lost delivery scans led to {n} claims',
      ],
    ],
    [
      [
        'only {n} test scanners with the new firmware exist and all are in Porto',
        'two were sent to the office',
      ],
      ['the mobile operator blocks our new port', 'we moved to 443 with ALPN'],
      [
        'the vendor does not say how frame type {n} is encoded',
        'it is the battery level, found by trial',
      ],
    ],
    [
      [
        'No scan may ever be lost, even if the data centre is away for {a} hours.',
        'Scanners hold {a} hours of scans and everything must arrive afterwards.',
      ],
      [
        'Old scanners without updates have to be served until they break.',
        'There is no update for the old devices, so the protocol they speak stays.',
      ],
    ],
  ),
  topic(
    'ingest',
    ['carrier imports', 'the EDI files', 'importing carrier data'],
    ['src/import/edifact.ts', 'src/import/carriers/dpd.ts', 'src/import/schedule.ts'],
    'npx vitest run test/import',
    [
      'DPD closes segments with a line break in {pct} % of the files, which edifact.ts reads ' +
        'as data',
      'the schedule fetches at the full hour when the SFTP of the carrier is busiest and {n} ' +
        'logins fail',
      'a file that is still being uploaded is read half, {N} of its lines are lost',
      'status code {n} means delivered at one carrier and refused at another',
      'postcodes lose their leading zero through Number() in the GLS mapping',
      'the import of {N} lines writes one row at a time and needs {n} minutes',
      'time stamps without a zone are UTC for DPD and local for PostNord',
      'files with a byte order mark are skipped as empty',
    ],
    [
      'read a file only when its size was stable for {n} s',
      'keep postcodes as text in all mappings',
      'insert in batches of {N} rows',
      'map the status codes per carrier in a table with tests',
      'state the time zone per carrier in schedule.ts',
      'strip line breaks between segments',
      'spread the fetches over {n} minutes',
    ],
    [
      [
        'a parser of our own for EDIFACT',
        'the edi-kit package',
        'the package keeps whole files of {mb} MB in memory',
        '{n} carriers later the own parser has a dialect for each',
      ],
      [
        'rejecting a file with one bad line',
        'importing what can be read',
        'carriers repair files only when they bounce',
        'a bad line held back {N} good ones on a Monday',
      ],
      [
        'polling SFTP every {n} minutes',
        'asking carriers to push',
        'it works with all of them today',
        'carriers count logins and threaten to block us',
      ],
      [
        'storing the carrier status next to ours',
        'storing ours alone',
        'disputes can be answered from our data',
        'two columns disagree and the console shows the wrong one',
      ],
    ],
    [
      ['PostNord gave us a test login that cannot list the directory', 'they fixed the rights'],
      [
        'the sample files of GLS are from 2016 and lack the fields we need',
        'new samples of {n} days arrived',
      ],
      ['the contract with DPD forbids storing the signature image', 'the addendum allows {d} days'],
    ],
    [
      [
        'A status may go back only when the carrier itself says so.',
        'Delivered stays delivered unless a carrier message revokes it.',
      ],
      [
        'Imports of the night must be through by {a} in the morning.',
        'Call centres open at {a}, all night files have to be in by then.',
      ],
    ],
  ),
  topic(
    'ingest',
    ['address cleaning', 'geocoding', 'normalising addresses'],
    ['src/address/normalise.ts', 'src/address/geocode.ts', 'src/address/cache.ts'],
    'npx vitest run test/address',
    [
      'normalise.ts turns “St.” into “Street” for Sankt Pölten, {n} parcels went astray',
      'the geocoder answers with the town centre for unknown streets and calls it a rooftop hit',
      'the cache key ignores the country, two towns named Halle share coordinates',
      '{pct} % of the requests are for {N} addresses of parcel shops',
      'house numbers such as 12-{n} are cut to 12',
      'Portuguese postcodes of four digits are completed with a random suffix',
      'the provider bills failed requests from {ver} of its API on',
      'upper-casing ß makes SS, which no longer matches the register',
    ],
    [
      'include the country in the cache key',
      'expand abbreviations by language',
      'preload the parcel shops into the cache',
      'keep the range of house numbers',
      'mark town-centre hits as imprecise and show them to dispatchers',
      'limit paid requests to {N} a day with an alert at {pct} %',
      'compare with the official register of Austria once a week',
    ],
    [
      [
        'Photon on our own host',
        'the Cartiva geocoder',
        'addresses stay in house and calls are free',
        'rural Portugal is {pct} % worse',
      ],
      [
        'keeping the address as it was typed',
        'overwriting it with the normalised one',
        'drivers trust what the sender wrote',
        'duplicates are no longer recognised',
      ],
      [
        'caching hits for {d} days',
        'caching them for good',
        'new streets appear in time',
        'the bill rose to {N} euro',
      ],
      [
        'libpostal for parsing',
        'rules per country',
        'one model covers {n} countries',
        'it needs 2 GB of memory in each worker',
      ],
    ],
    [
      ['the Austrian register needs a signed agreement', 'signed, download started'],
      [
        'the geocoder key is blocked after {N} requests from the load test',
        'a second key for tests exists',
      ],
      ['nobody can judge Portuguese addresses in the team', 'Ines from Porto reviews {n} a week'],
    ],
    [
      [
        'The address the sender typed must always be printed unchanged.',
        'Print what the sender wrote, cleaned addresses are for routing only.',
      ],
      [
        'Spend at most {b} euro a month on geocoding.',
        'The geocoding budget is {b} € monthly and not a cent more.',
      ],
    ],
  ),
  topic(
    'auth',
    ['single sign-on', 'the SAML login', 'logins through customers’ identity providers'],
    ['src/auth/saml.ts', 'src/auth/session.ts', 'src/auth/provision.ts'],
    'npx vitest run test/auth/saml.test.ts',
    [
      'saml.ts accepts an assertion whose audience is another tenant of ours',
      'clocks of the Wessling provider are {n} s ahead and NotBefore rejects one login in {n2}',
      'users renamed in the directory get a second account because the mail is the key',
      'the session cookie lacks SameSite in the redirect from the provider',
      'signing certificates of {n} customers expire within {d} days and nobody is told',
      'provision.ts removes group members when the directory answers with page one only',
      'logout at the provider leaves our session alive for up to {n} hours',
      'XML comments inside the NameID split it in two for the old parser',
    ],
    [
      'check the audience against the tenant of the request',
      'allow {n} seconds of clock skew',
      'key users by the immutable NameID',
      'warn admins {d} days before a certificate expires',
      'read all pages before removing group members',
      'end our session on single logout',
      'accept two signing certificates during a rollover',
    ],
    [
      [
        'provisioning users by SCIM',
        'creating them at first login',
        'leavers lose access the same hour',
        '{n} of the providers cannot do it',
      ],
      [
        'sessions in Postgres',
        'signed cookies without state',
        'a stolen session can be ended',
        'each request costs {ms} ms more',
      ],
      [
        'node-saml',
        'our own parser',
        'signature wrapping is its problem and it is audited',
        'its last release is {n} months old with open advisories',
      ],
      [
        'mapping roles in the console',
        'taking roles from the assertion',
        'customers cannot make themselves admin',
        'admins maintain {N} people in two places',
      ],
    ],
    [
      [
        'Wessling gives test accounts only after a pen test report',
        'report sent, {n} accounts came',
      ],
      ['Azure sends groups as ids once there are more than {N}', 'we ask the Graph API for names'],
      [
        'security wants a review of saml.ts and is booked until the {d}th',
        'review done, two remarks',
      ],
    ],
    [
      [
        'Someone who leaves a customer must be locked out within {a} minutes.',
        'Leavers: {a} min after the directory says so they are out, everywhere.',
      ],
      [
        'Password logins stay possible for small shops.',
        'Do not force SSO on the small ones, they have passwords and keep them.',
      ],
    ],
  ),
  topic(
    'auth',
    ['API tokens', 'machine credentials', 'token scopes'],
    ['src/auth/tokens.ts', 'src/auth/scopes.ts', 'web/src/settings/Tokens.tsx'],
    'npx vitest run test/auth/tokens.test.ts',
    [
      'tokens.ts compares hashes with ===, which a timing test tells apart after {N} tries',
      'scope parcels:read also allows the export with recipients, {n} partners use that',
      'revoked tokens work for another {n} minutes because of the cache in the edge',
      'the settings page shows the whole token again after a reload of the tab',
      '{N} tokens have not been used for over {d} weeks',
      'lastUsed is written on each request and makes {pct} % of all updates',
      'the prefix of test tokens is the same as that of live ones',
      'a token made by a user who left keeps his rights',
    ],
    [
      'compare token hashes in constant time',
      'split parcels:export from parcels:read',
      'write lastUsed at most once in {n} minutes',
      'tell the edge about revoked tokens at once',
      'show a new token exactly once',
      'expire tokens that were idle for {d} days after a warning',
      'bind tokens to service accounts instead of people',
    ],
    [
      [
        'opaque tokens with a database look-up',
        'JWTs',
        'revoking is one update',
        'the look-up is {pct} % of the load of the primary',
      ],
      [
        'scopes by resource and verb',
        'three fixed roles',
        'partners ask for exactly one thing',
        'nobody picks the right ones of {n} scopes',
      ],
      [
        'tokens that expire after {d} days',
        'tokens without an end',
        'forgotten scripts lose access',
        'printers in the field stopped on a Sunday',
      ],
      [
        'a prefix with checksum',
        'random strings',
        'leaked tokens are found by scanners in public code',
        'the vendor’s form takes {n} characters only',
      ],
    ],
    [
      ['{n} partners must agree to the new export scope', 'all agreed, the last one by phone'],
      [
        'GitHub secret scanning needs a public endpoint that security has not approved',
        'endpoint approved behind the edge',
      ],
      ['old printers cannot store tokens over {N} characters', 'the short form has 40'],
    ],
    [
      [
        'A leaked token must be dead within {a} seconds of pressing revoke.',
        'Revoke means revoked: {a} s later no node may accept it.',
      ],
      [
        'Tokens already in printers have to stay valid, nobody drives out to change them.',
        'No change may invalidate the tokens stored in field printers.',
      ],
    ],
  ),
  topic(
    'auth',
    ['the audit trail', 'audit logging', 'who did what'],
    ['src/audit/record.ts', 'src/audit/export.ts', 'src/audit/chain.ts'],
    'npx vitest run test/audit',
    [
      'record.ts runs after the commit, a crash in between leaves {n} changes without a trace',
      'the hash chain breaks where two nodes write in the same millisecond',
      'bulk edits of {N} parcels make one entry without the ids',
      'support staff acting for a customer appear as the customer',
      'the export sorts by text, entry {N} comes before entry 2',
      'before and after hold whole documents, {mb} MB for a label template',
      'reads are not recorded although the contract of Halden asks for it',
      'entries older than {d} months are in cold storage and the search does not say so',
    ],
    [
      'write the audit entry in the same transaction as the change',
      'chain entries per tenant with a sequence instead of a time',
      'record the acting person and the customer apart',
      'store differences rather than whole documents',
      'list the ids of bulk edits in parts of {N}',
      'record reads for tenants that ordered it',
      'say in the search where older entries are',
    ],
    [
      [
        'a hash chain per tenant',
        'signatures per entry',
        'a missing entry shows, not just a changed one',
        'deleting a person breaks the chain by law',
      ],
      [
        'an append-only table',
        'an external log service',
        'entry and change commit together',
        'an admin of the database can still edit it',
      ],
      [
        'keeping entries for {n} years',
        'keeping them as long as the contract',
        'one rule fits the auditors of all customers',
        'storage for trial tenants costs more than they pay',
      ],
      [
        'field-level differences',
        'full copies',
        'the table is {pct} % smaller',
        'old states have to be rebuilt from {N} steps',
      ],
    ],
    [
      [
        'the DPO and the auditor contradict each other on deleting persons',
        'names are replaced by a keyed hash',
      ],
      [
        'cold storage takes {n} hours to answer, too long for the export',
        'the last {d} months stay warm',
      ],
      ['Halden’s auditor wants a format nobody here knows', 'it is plain CSV with a signature'],
    ],
    [
      [
        'Nothing may change without a trace, not even when we repair data by hand.',
        'Manual repairs too: every change leaves an audit entry.',
      ],
      [
        'An auditor has to get a month of entries within {a} minutes.',
        'Exports of a month: {a} min at most, auditors wait at the desk.',
      ],
    ],
  ),
  topic(
    'mobile',
    ['offline sync', 'syncing the driver app', 'the outbox of the app'],
    ['app/lib/sync/outbox.dart', 'app/lib/sync/merge.dart', 'src/sync/server.ts'],
    'flutter test test/sync',
    [
      'merge.dart prefers the later clock, phones {n} minutes ahead always win',
      'the outbox sends {N} photos before the first signature, drivers drive off meanwhile',
      'a tour changed by the dispatcher while offline drops {n} finished stops',
      'Android kills the upload after {n} minutes in the background on Samsung devices',
      'server.ts answers 413 for batches above {mb} MB and the app repeats them for ever',
      'the local database grows by {mb} MB a week because sent photos stay',
      'switching from WiFi to mobile makes a second upload with the same id',
      'tokens expire during a night without network and the outbox is discarded at login',
    ],
    [
      'order changes by server sequence instead of phone clock',
      'send signatures before photos',
      'halve the batch when the server answers 413',
      'keep the outbox when the login has expired',
      'delete photos {n} days after they arrived',
      'merge finished stops into a changed tour',
      'use WorkManager with a foreground notice for uploads',
    ],
    [
      [
        'last writer wins per field',
        'a CRDT',
        'drivers and dispatchers rarely touch the same field',
        'stops finished twice with different signatures exist',
      ],
      [
        'SQLite on the phone',
        'Hive',
        'a broken file can be repaired and looked at',
        'opening takes {ms} ms on the cheapest phones',
      ],
      [
        'photos scaled to {N} pixels',
        'photos as taken',
        'an upload fits in one mobile cell handover',
        'insurers reject damage photos below two megapixels',
      ],
      [
        'pushing changes to the app',
        'polling each {n} minutes',
        'dispatchers see a driver react at once',
        'push needs Google services, which the depot phones lack',
      ],
    ],
    [
      [
        'the depot phones are locked and no debug build can be installed',
        'MDM group test-{n} allows it',
      ],
      ['no Samsung A{n} in the office to reproduce the kill', 'bought one'],
      [
        'legal wants to know where photos of doors are stored',
        'in Frankfurt, {d} days, answer accepted',
      ],
    ],
    [
      [
        'A signature must never be lost, whatever happens to the phone’s network.',
        'Signatures first: they must arrive even after a week without signal.',
      ],
      [
        'A tour of {b} stops has to work without any network from start to end.',
        'Drivers in the mountains have no signal for {b} stops, all of it must work.',
      ],
    ],
  ),
  topic(
    'mobile',
    ['proof of delivery', 'the delivery screen', 'signature capture'],
    [
      'app/lib/delivery/sign_page.dart',
      'app/lib/delivery/photo.dart',
      'app/lib/delivery/flow.dart',
    ],
    'flutter test test/delivery',
    [
      'the signature pad records {n} points a second on the Zebra TC{n2} and looks like a polygon',
      'photo.dart strips the EXIF time that insurers ask for',
      'back in step {n} of the flow forgets the neighbour’s name',
      'the camera opens in {ms} ms on new phones and in {n} s on the TC21',
      'drivers tap “delivered” {n} times when the spinner is slow, each makes an event',
      'flow.dart loses its state when Android rotates the screen',
      'dark mode draws the signature white on white in the PDF',
      'the age check accepts a date of birth in the future',
    ],
    [
      'smooth the signature with splines',
      'disable the button after the first tap',
      'keep the flow state across rotation',
      'keep the capture time when stripping EXIF',
      'store signatures as black strokes whatever the theme',
      'open the camera ahead on the previous page',
      'validate the date of birth on phone and server',
    ],
    [
      [
        'strokes as vectors',
        'a PNG of the pad',
        'they take {n} KB and scale in print',
        'two courts wanted a picture',
      ],
      [
        'one flow with optional steps',
        'a flow per product',
        'drivers learn one order',
        '{n} conditions in flow.dart contradict each other',
      ],
      [
        'a photo instead of a signature at the door',
        'always a signature',
        'since the pandemic people refuse to touch the phone',
        'insurers pay only with a signature above {N} euro',
      ],
      [
        'reading ids with ML Kit',
        'typing the last four digits',
        'it takes two seconds and makes no typos',
        'the model misreads {pct} % of Portuguese cards',
      ],
    ],
    [
      ['the TC21 test device is at the repair shop', 'it is back with firmware {ver}'],
      ['insurers have not confirmed vector signatures', 'accepted with a hash of the strokes'],
      ['the age check text needs a translation to Portuguese', 'translated by Ines'],
    ],
    [
      [
        'A delivery has to be done in {a} taps at most.',
        'Drivers make 180 stops a day: {a} taps per delivery, no more.',
      ],
      [
        'Everything must work with gloves on.',
        'Buttons need to be large enough for winter gloves.',
      ],
    ],
  ),
  topic(
    'mobile',
    ['route planning', 'tour optimisation', 'the order of stops'],
    ['src/route/solve.ts', 'src/route/matrix.ts', 'app/lib/tour/reorder.dart'],
    'npx vitest run test/route',
    [
      'solve.ts treats time windows as soft, {n} of {N} stops were late in the replay',
      'the distance matrix is symmetric although half of Porto is one-way',
      'the solver needs {n} s for {N} stops and is called again for each change',
      'breaks of drivers are placed before the first stop to save time',
      'reorder.dart renumbers all stops when one is moved and the dispatcher sees {N} changes',
      'ferries are used at night when they do not run',
      'the seed differs per process, the same tour comes out differently on each node',
      'pickups after 16:00 are planned into vehicles that are already full by {pct} %',
    ],
    [
      'make time windows hard and report stops that do not fit',
      'use directed distances in matrix.ts',
      'repair a tour locally when a single stop changes',
      'place breaks between {n} and {n2} hours after the start',
      'fix the seed by tour id',
      'respect the timetable of ferries',
      'send only the moved stop from reorder.dart',
    ],
    [
      [
        'OR-Tools in a sidecar',
        'our own local search',
        'time windows and breaks are built in',
        'the sidecar takes {mb} MB per tour',
      ],
      [
        'planning the evening before',
        'planning at 05:00',
        'drivers know their start',
        '{pct} % of the parcels arrive during the night',
      ],
      [
        'minimising time',
        'minimising distance',
        'wages cost more than fuel',
        'electric vans run empty at {n} % of tours',
      ],
      [
        'letting drivers reorder freely',
        'asking the dispatcher',
        'they know their district',
        'promised windows were missed {N} times in a month',
      ],
    ],
    [
      ['the map licence excludes truck restrictions', 'extended for {N} euro'],
      ['real tours for a replay lack their start times', 'taken from the first scan'],
      ['the works council must agree to measured breaks', 'agreed, without names'],
    ],
    [
      [
        'Promised time windows come before everything else.',
        'If in doubt keep the window we promised, kilometres matter less.',
      ],
      [
        'A new plan must be there {a} seconds after a dispatcher changes it.',
        'Dispatchers wait at most {a} s for a replanned tour.',
      ],
    ],
  ),
]

// What holds across themes: its wordings, and what it means for a topic.
const RULES = [
  {
    says: [
      'No names, addresses or phone numbers in log files, not even in debug builds.',
      'Personal data stays out of the logs, at every level and on every machine.',
      'Please check again that nothing we write to a log could identify a recipient.',
    ],
    finds: [
      '{file} logs the whole request, recipient included, when parsing fails',
      'error texts around {name} carry the street of the recipient into the log index',
      'the trace attributes set in {file} contain a phone number in {n} of {N} spans',
    ],
    acts: [
      'mask recipients before anything about {name} is logged',
      'replace the raw payload in the errors of {file} by its hash',
      'add a check to CI that fails when {file} logs an address',
    ],
  },
  {
    says: [
      'No new runtime dependencies without asking me, we got burnt by left-pad copies twice.',
      'Ask before you add a package that ships, dev tools are fine.',
      'Keep the list of shipped packages as it is, I want to be asked first.',
    ],
    finds: [
      '{file} pulls in lodash through a type import that the bundler does not drop',
      'the library used for {name} has {n} transitive packages, one with an install script',
      'two versions of the same date package are shipped because of {file}',
    ],
    acts: [
      'write the small helper in {file} by hand instead of adding a package',
      'ask whether the parser for {name} may be vendored',
      'remove the package that only {file} still needs',
    ],
  },
  {
    says: [
      'All times are stored in UTC and shown in the zone of the depot, without exception.',
      'Store UTC, display depot time, and never the zone of the server.',
      'I saw local times in a table again, the agreement is UTC inside and depot time outside.',
    ],
    finds: [
      '{file} calls toLocaleString on the server, which is set to Berlin',
      'the night the clocks change gives {n} negative durations in {name}',
      '{name} compares a date without zone with one that has it',
    ],
    acts: [
      'parse dates in {file} with an explicit zone',
      'test {name} on both nights on which the clocks change',
      'rename the columns behind {name} so that they end in _utc',
    ],
  },
  {
    says: [
      'A tenant must never see anything of another tenant, so every query filters by tenant first.',
      'Queries without a tenant filter are a bug even when they return the right rows.',
      'Think of tenant separation in each query, the pen testers will look at nothing else.',
    ],
    finds: [
      'a join in {file} loses the tenant condition when the left side is empty',
      'the cache behind {name} is keyed without the tenant',
      'background jobs for {name} run with the rights of the owner and bypass row security',
    ],
    acts: [
      'put the tenant first in each query of {file}',
      'turn row security on for the tables of {name}',
      'write a test that asks {name} for data of tenant B with a login of tenant A',
    ],
  },
  {
    says: [
      'Public responses may get new fields, but no field may vanish or change its type.',
      'Additive changes only: partners parse everything we ever sent them.',
      'Do not rename or drop anything partners can see, add beside it.',
    ],
    finds: [
      '{file} turns an empty list into null, which strict clients refuse',
      'a field of {name} became a number in {ver} and {n} partners parse it as text',
      'the error codes coming from {name} are compared word by word by Lindqvist',
    ],
    acts: [
      'keep the old field beside the new one in {file}',
      'record the responses of {name} as snapshots and compare them in CI',
      'mark the old form of {name} as deprecated without removing it',
    ],
  },
  {
    says: [
      'Everything new goes behind a flag that is off, and I switch it on per customer.',
      'Ship it dark: a flag for each change in behaviour, default off.',
      'Flags again, please: no customer gets new behaviour without me enabling it.',
    ],
    finds: [
      'the flag read in {file} is cached at start, so switching it off needs a restart',
      '{name} has {n} flags of which two exclude each other',
      'the default of the flag for {name} is on in staging and hides the old path from tests',
    ],
    acts: [
      'put the new path in {file} behind a flag that is off',
      'run the tests of {name} with the flag on and off',
      'delete the flag of {name} that has been on everywhere since {ver}',
    ],
  },
  {
    says: [
      'Messages to users in English, German and Portuguese, or they do not ship.',
      'Three languages for each text a user can see: en, de, pt.',
      'Porto got English texts once more, all visible text needs its Portuguese version too.',
    ],
    finds: [
      '{n} texts in {file} are built by joining words and cannot be translated',
      'plural forms in {name} are wrong in Portuguese for the number zero',
      'German texts of {name} are {pct} % longer and are cut on the depot tablets',
    ],
    acts: [
      'move the visible texts of {file} into the catalogue',
      'let Ines check the Portuguese texts of {name}',
      'fail the build when a text of {name} lacks a language',
    ],
  },
  {
    says: [
      'Jobs have to be safe to run twice, because the scheduler does run them twice.',
      'Assume that each job starts a second time, it must do no harm.',
      'Idempotent jobs, always: the cluster restarts them whenever it likes.',
    ],
    finds: [
      'a second run of the job in {file} sends {n} mails again',
      'the lock that guards {name} expires after {n} minutes while the job takes longer',
      'retrying {name} after a timeout leaves {N} half-written rows',
    ],
    acts: [
      'make the job in {file} skip what it already did',
      'extend the lock of {name} while the job is alive',
      'run the job of {name} twice in its test and compare the results',
    ],
  },
  {
    says: [
      'The EU hosting promise covers everything: no data to services outside, not even for tests.',
      'Nothing leaves the EU, test data included, that is in each contract.',
      'Careful with hosted tools, customer data must stay on machines in the EU.',
    ],
    finds: [
      '{file} reports crashes to a host in Virginia',
      'the fonts of {name} come from a CDN that logs the address of the visitor in the US',
      'the recorded data used in tests of {name} was synced to a bucket in us-east-1',
    ],
    acts: [
      'send the crash reports of {file} to our own Sentry',
      'delete the copy of the {name} data outside the EU',
      'list each outside host that {name} talks to',
    ],
  },
]

const PEOPLE = ['Priya', 'Marek', 'Ines', 'Jonas', 'Tomas', 'Aylin', 'Sven', 'Chidi', 'Roos']
const PLACES = ['staging', 'the Halden cluster', 'my machine', 'CI', 'the Porto depot', 'prod-eu-2']
const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday']
const SUFFIXES = ['options', 'errors', 'limits', 'types', 'report', 'legacy', 'metrics', 'cli']

const FRAMES = {
  found: [
    '{x}',
    '{x}',
    '{x}',
    '{x}',
    'measured on {place}: {x}',
    'turns out {x}',
    '{who} noticed it first: {x}',
    'in {file}, {x}',
    'after {n} attempts it is clear that {x}',
    'regarding {name}: {x}',
    'the odd behaviour on {place} is explained, {x}',
    'reading the code of {file} shows that {x}',
    'not documented anywhere: {x}',
    'checked twice, {x}',
    '{x}; {who} has the numbers',
    '{x}, which explains ticket {N}',
    '{x}, at least with the data of {place}',
    '{x} (see {file})',
    '{x}, and that is since {ver}',
    '{x}; a reproduction is in scratch/{N}.md',
    '{x}, so far only on {place}',
  ],
  step: [
    '{x}',
    '{x}',
    '{x}',
    '{x} in {file}',
    '{x}, with a test that fails before',
    '{x} and tell {who}',
    '{x} before the release of {ver}',
    'for {name}: {x}',
    '{x}, then measure again on {place}',
    '{x}; about {n} call sites',
    '{x}, as agreed with {who} on {day}',
    '{x} once {other} is settled',
    '{x}, keeping {other} as it is',
    'find out whether we can {x}',
    '{x} (ticket {N})',
  ],
  ask: [
    'Can you {x}?',
    'Please {x}, {who} is waiting for it.',
    'Next I would like you to {x}.',
    'Look at {name} and {x}.',
    '{who} asked on {day} whether we could {x}, so let us do it.',
    'I need {name} in shape by {day}: {x}.',
    'Let’s {x}. Start in {file} if you find nothing better.',
    'We talked about {name} in the stand-up, the result is to {x}.',
    'ticket {N}: {x}. Tell me what you plan before you change anything.',
    'Continue with {name}. I think we should {x}, or do you see another way?',
  ],
  askAgain: [
    'Where are we with {name}? I asked for it on {day}.',
    'Did you get to what I wanted in {name}, that is to {x}?',
    '{who} reminded me of {name}. Is it done, and if not, what is missing?',
    'My request from {day} about {file} is still open, I believe.',
    'Once more, because it matters to {who}: {x}.',
    'I do not see any change in {name} on {place}, please get it done.',
  ],
  chat: [
    'Yes, go on like that, but show me the diff for {file} first.',
    'Thanks. Could you run it on {place} once more and tell me the numbers?',
    'Why does {name} take so long, is that expected?',
    'I am away until {day}, {who} can answer questions on {name}.',
    'Looks good to me, commit it and carry on with {other}.',
    'Explain to me in three sentences how {name} works today.',
    'Stop for now, there is an incident on {place} and I need the terminal.',
    'What did we change in {file} since {ver}, and who reviewed it?',
  ],
  override: [
    'Change of plan, what I said earlier about {name} no longer holds: {x}',
    'Forget the old figure. {x}',
    'After a call with {who} the requirement is different now: {x}',
    'Correction from my side for {name}: {x}',
  ],
  title: [
    'Use {p} rather than {q} for {name}',
    'We go with {p}, not {q}, in {name}',
    '{name}: {p} instead of {q}',
    'Settled with {who}: {p} for {name}',
    'Prefer {p} over {q} when it comes to {name}',
    'After the discussion on {day}, {name} gets {p}',
    '{p} it is for {name}, {q} is out',
  ],
  replace: [
    'Back to {q} for {name}, {p} did not hold up',
    '{name} uses {q} from now on, replacing {p}',
    'Give up {p}; {q} serves {name} better after all',
    'Reversed on {day}: {q} in place of {p} for {name}',
    '{q} after all in {name}, on the advice of {who}',
  ],
  context: [
    'came up while working on {file} with {who}',
    'both were tried on {place} for {n} hours',
    'the question was open since {ver} and blocked {other}',
    'triggered by ticket {N} and the numbers from {place}',
    'a change in {file} made it necessary to choose',
  ],
  done: [
    'the change to {x} is in, {n} tests were added',
    'it took {n} tries to {x}, works on {place} now',
    '{name} is one step further: managed to {x}',
    'was able to {x} by touching {file} alone',
    'reviewed by {who}: the work to {x} can ship with {ver}',
    'nothing left of the task to {x}, the old code is deleted',
    'cleaned up after the change to {x}, {file} lost {N} lines',
  ],
  partly: [
    'began to {x}; {file} is converted, {n} call sites remain',
    'a first version that tries to {x} runs on {place} but {n} cases are missing',
    'prototype in scratch/{N}.ts shows we can {x}, it is not wired up',
    'half way to the goal to {x}: the reading side works, the writing side does not',
    'tried to {x} and parked it in a stash named wip-{N}, the idea is sound',
  ],
  fixed: [
    'no longer the case since today that {x}',
    'repaired in {file}, it used to be that {x}',
    'the trouble with {name} is gone: {x} was true until {ver}',
    '{who} fixed it upstream, so this is history: {x}',
  ],
  saidDone: [
    'The change to {x} is in {file} and {n} tests pass. I did not touch {other}.',
    'You can now try it on {place}. I managed to {x}, with {N} changed lines.',
    'All of it is committed, above all the work to {x}. {who} may want to read {file}.',
    'That was the last of it: the code can {x}, and the suite takes {n} s as before.',
  ],
  saidPlan: [
    'I looked through {file} and the two files beside it. Next I would {x}, if you agree.',
    'Done so far: the tests for {name} run in {n} s. Open is whether to {x}.',
    'Stopped here on purpose, {file} compiles again. What remains is to {x}.',
    'Before I go on: should I {x}, or leave {name} as it is until {day}?',
    'I ran it {n} times on {place} and saw no failure. The plan to {x} still stands.',
    'Nothing is committed yet, I am in the middle of {file} and want to {x} first.',
  ],
  saidFact: [
    'While I was at it I saw this: {x}. I left it alone for now.',
    'Worth knowing for later: {x}.',
    'One surprise in {file}: {x}. Tell me if it should be fixed.',
    'I could not finish, because {x}.',
    'As for your question on {name}: {x}.',
  ],
  note: [
    '{who} knows the history of {file} and is in on {day}s',
    'numbers for {name} are in the sheet “{N} runs”, tab {n}, made on {place}',
    'the meeting about {name} is on {day}, bring the figures of {ver}',
    'naming in {file} follows the old wiki page, not the glossary',
    'credentials for trying {name} on {place} are requested from {who}, not in the repository',
    'the demo for {who} uses the branch of {day}, leave it alone until then',
    'idea for later: {x}, not before {ver}',
    'asked {who} whether {other} depends on {name}, the answer is “probably not”',
  ],
  key: [
    '{name}: {x}',
    'remember for {file}: {x}',
    'must know: {x}',
    'before any change to {name}, mind that {x}',
  ],
  retracted: [
    'measured wrongly, the script ran against {place}',
    'no longer true since {ver}, checked with {who}',
    'replaced after the results from {place}',
    'it was a mix-up of {name} with {other}',
    'overtaken by what was decided on {day} with {who}',
  ],
  fail: [
    '{n} failed, {N} passed; first: expected {n2} rows, got {d}',
    '{n} of {N} fail, all in the cases for {name}, the first with a timeout of {n2} s',
    '1 failed ({file}): TypeError, cannot read properties of undefined, {N} passed',
    'assertion in the case “{x}” fails, {n} others skipped after it',
  ],
  pass: [
    '{N} passed in {n} s, none skipped, on Node 20 and 22',
    'all green, {N} tests, slowest is the one for {name} with {ms} ms',
    '{N} passed, {n} skipped because {place} is not reachable from here',
  ],
  tail: [
    'as seen on {place}',
    'according to {who}',
    'since {ver} at the latest',
    'with the data of {day}',
    'for {name}',
  ],
  described: [
    'where {name} starts, read this before the other {n} files',
    'holds the limits for {name}, changed by {who} for {ver}',
    'called from {n} places, the one for {other} is easy to miss',
    'generated in part, the section below line {N} is by hand',
    'split off from its neighbour on {day} to keep {name} readable',
  ],
  research: [
    'find every place where {name} is configured and compare with {place}',
    'look for an existing way to {x} in the code and in closed tickets',
    'read the history of {file} back to {ver} and say why it changed',
    'compare how {n} other projects handle {name}, with links',
  ],
}

const GOALS = [
  ['parcel-platform-autumn', 'Get the parcel platform ready for the autumn peak at Wessling'],
  ['halden-onboarding', 'Bring Halden with its nineteen depots onto the shared platform'],
  ['porto-rollout', 'Roll the platform out to the Porto depots without a maintenance window'],
  ['reliability-quarter', 'Spend the quarter on reliability before new features are sold'],
  ['lindqvist-contract', 'Deliver what the contract with Lindqvist promises for the second half'],
]

// For a topic that has run out of its own.
const MORE = {
  finds: [
    '{file} is loaded {n} times per request because nobody keeps the result',
    '{name} fails on {place} as soon as {N} clients connect within {n} s',
    'half of {file} has had no caller since {ver}',
    'the comment at line {N} of {file} contradicts what the code does',
    '{who} changed {file} in a hotfix on {place} that never came back to the branch',
    '{name} needs {mb} MB at peak on {place}, {n} times what the limit in the chart allows',
    'an empty list makes {file} return early and skip the clean-up in line {N}',
    'the default of {n} in {file} was meant for tests and reached {ver}',
    '{name} and {other} both write the same key and the order decides who wins',
    'the {N} warnings on {place} all come from one retry loop in {file}',
    'with the clock of {place} off by {ms} ms, {name} orders two events wrongly',
    'the {n} slowest calls in {name} wait for a lock that {other} holds',
    'in {ver} a rename in {file} broke the import that {who} uses by hand',
    '{pct} % of the time in {name} goes to formatting messages that are never shown',
  ],
  acts: [
    'add {n} cases for {name} to the tests, from ticket {N}',
    'split {file} near line {N}, it does two things',
    'measure {name} on {place} with {N} requests',
    'rename the helpers in {file} after what they return, {n} of them',
    'remove the branch in line {N} of {file} that only {ver} needed',
    'show {who} the figures for {name} from run {N}',
    'replace the {n} copies of the same loop in {file}',
    'write down for {who} how {name} is restarted on {place}',
    'lower the memory of {name} below {mb} MB',
    'take the {n} settings of {name} out of the code',
    'log once per minute instead of {N} times in {file}',
    'bring the hotfix of {who} for {file} back from {place}',
    'try {name} with the data of {who}, {N} rows',
    'give the error in line {N} of {file} a text that says what to do',
  ],
}

/** A session of 150 to 600 entries, and what the conversation after it uses. */
export function generateSession(seed) {
  const random = chances(seed)
  const journal = new Journal(random)
  const size = random.int(165, 560)
  journal.open()
  while (journal.entries.length < size) journal.converse(size)
  return journal.outcome()
}

/** Random choices from a seed (mulberry32). */
function chances(seed) {
  let state = Math.imul(Number(seed) + 1, 0x9e3779b1) >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (from, to) => from + Math.floor(next() * (to - from + 1))
  const pick = (list) => list[Math.floor(next() * list.length)]
  const shuffled = (list) => {
    const copy = [...list]
    for (let last = copy.length - 1; last > 0; last -= 1) {
      const other = int(0, last)
      const kept = copy[last]
      copy[last] = copy[other]
      copy[other] = kept
    }
    return copy
  }
  const weighted = (list, weightOf) => {
    const weights = list.map(weightOf)
    let left = next() * weights.reduce((sum, weight) => sum + weight, 0)
    for (const [index, weight] of weights.entries()) {
      left -= weight
      if (left < 0) return list[index]
    }
    return list.at(-1)
  }
  return {
    next,
    int,
    pick,
    shuffled,
    weighted,
    is: (share) => next() < share,
    between: (from, to) => from + next() * (to - from),
    gumbel: () => -Math.log(-Math.log(next() * 0.999998 + 0.000001)),
    hex: (length) => Array.from({ length }, () => int(0, 15).toString(16)).join(''),
  }
}

/** How often each happens in a conversation. */
const ACTIONS = {
  ask: 3,
  chat: 3,
  askAgain: 1.2,
  must: 1.6,
  mustAgain: 1.1,
  override: 0.6,
  rule: 0.7,
  ruleAgain: 0.5,
  decide: 5,
  replace: 2.4,
  retractDecision: 0.7,
  find: 9,
  gotcha: 4.5,
  retractFinding: 1.3,
  fixFinding: 1.8,
  amend: 1.2,
  block: 2.4,
  unblock: 2.2,
  blockAgain: 0.25,
  addStep: 7,
  startStep: 3,
  finishStep: 11,
  dropStep: 0.8,
  reopenStep: 0.5,
  progress: 5,
  note: 2.2,
  key: 1.3,
  addNext: 1.3,
  takeNext: 1,
  noteFile: 1.6,
  changeFile: 8,
  commit: 3.5,
  failTest: 3.4,
  passTest: 3.6,
  keepOutput: 1,
  research: 1,
  delegate: 0.6,
  keepCommand: 0.7,
  endTurn: 7,
}

/** The share of the entries of a kind that still matter at the end, if nothing undid them. */
const MATTERING = {
  'step.added': 1,
  'next.added': 1,
  'decision.made': 1,
  'blocker.raised': 1,
  'key.added': 1,
  'discovery.made': 0.6,
  'gotcha.found': 0.78,
  'note.added': 0.35,
  'file.noted': 0.35,
  'command.kept': 0.4,
}

/** The kinds in order of how much a conversation asks for them, before chance. */
const NEEDED = {
  'step.added': 0.9,
  'next.added': 0.8,
  'blocker.raised': 1.3,
  'test.ran': 1.2,
  'decision.made': 0.9,
  'request.made': 0.9,
  'key.added': 0.8,
  'gotcha.found': 0.95,
  'discovery.made': 0.7,
  'progress.made': 0.4,
  'turn.ended': 0.3,
  'delegate.reported': 0.3,
  'agent.finished': 0,
  'note.added': -0.1,
  'file.noted': -0.1,
  'command.kept': -0.2,
}

class Journal {
  entries = []
  /** What is known of each entry and not in it. */
  facts = new Map()
  conversation = ''
  conversations = 0

  constructor(random) {
    this.random = random
    this.clock = Date.UTC(2026, random.int(0, 7), random.int(1, 27), 7, random.int(0, 59))
    const themes = random.shuffled([...new Set(TOPICS.map(({ theme }) => theme))])
    const chosen = themes.slice(0, random.int(4, 6))
    this.topics = TOPICS.filter(({ theme }) => chosen.includes(theme)).map((topic) => ({
      ...topic,
      files: [...topic.files, ...this.moreFiles(topic)],
      tests: [topic.test, `${topic.test} --retry 2`, `npm run check:${topic.theme}`],
      bags: {},
      musts: topic.musts.map((says) => ({ says, env: {}, said: [] })),
    }))
    this.themes = chosen
    this.rules = random.shuffled(RULES).slice(0, random.int(4, 6))
    this.rules = this.rules.map((rule) => ({
      ...rule,
      said: [],
      themes: chosen.filter(() => random.is(0.7)),
      bags: {},
    }))
    this.theme = random.pick(chosen)
    this.lastRun = new Map()
    this.dirty = new Set()
    this.asks = []
    this.used = new Set()
  }

  moreFiles({ files }) {
    const [base] = files
    const dot = base.lastIndexOf('.')
    const grown = `${base.slice(0, dot)}-${this.random.pick(SUFFIXES)}${base.slice(dot)}`
    return this.random.is(0.7) ? [grown] : []
  }

  // Entries

  write(kind, data, about = {}) {
    const ref = `e${this.entries.length}-${this.random.hex(4)}`
    const { topic, by = 'cli', matters, files = [], ...more } = about
    this.clock += Math.round(this.random.between(0.3, 1) ** 2 * 9 * 60_000)
    this.entries.push({ kind, by, at: new Date(this.clock).toISOString(), data, ref })
    const mentioned = topic?.files.filter((file) => JSON.stringify(data).includes(file)) ?? []
    this.facts.set(ref, {
      ref,
      kind,
      index: this.entries.length - 1,
      topic,
      files: [...mentioned, ...files],
      // Some facts are about a file without naming it.
      hidden: topic !== undefined && this.random.is(0.5) ? this.random.pick(topic.files) : '',
      isLive: true,
      matters: matters ?? this.random.is(MATTERING[kind] ?? 0),
      weight: this.random.next(),
      links: [],
      ...more,
    })
    return this.facts.get(ref)
  }

  hook(kind, data, about = {}) {
    return this.write(kind, data, { by: 'hook', ...about })
  }

  live(kinds, topic) {
    return [...this.facts.values()].filter(
      (fact) =>
        fact.isLive && kinds.includes(fact.kind) && (topic === undefined || fact.topic === topic),
    )
  }

  /** One that still holds, of this topic or else of any; rarely one of the latest. */
  oneLive(kinds, topic, suits = () => true) {
    const here = this.live(kinds, topic).filter(suits)
    if (here.length > 0) return this.random.pick(here)
    return this.random.pick(this.live(kinds).filter(suits))
  }

  // Texts

  /** The next of the topic's own, each once. */
  bag(owner, name) {
    return (owner.bags[name] ??= this.random.shuffled(owner[name])).pop()
  }

  fill(text, topic, env = {}) {
    const { random } = this
    const values = {
      n: () => random.int(2, 19),
      n2: () => random.int(2, 19),
      N: () => random.int(120, 9800),
      a: () => random.int(5, 9),
      b: () => random.int(12, 48) * 10,
      d: () => random.int(4, 20),
      pct: () => random.int(3, 94),
      ms: () => random.int(15, 900),
      mb: () => random.int(8, 900),
      ver: () => `${random.int(1, 7)}.${random.int(0, 31)}.${random.int(0, 9)}`,
      who: () => random.pick(PEOPLE),
      place: () => random.pick(PLACES),
      day: () => random.pick(DAYS),
      name: () => random.pick(topic.names),
      file: () => random.pick(topic.files),
      other: () => random.pick(random.pick(this.topics.filter((each) => each !== topic)).names),
    }
    return text.replaceAll(/\{(\w+)\}/gu, (_, key) => (env[key] ??= String(values[key]())))
  }

  /** A text of 6 to 40 words in one of the frames. */
  text(frames, topic, env = {}) {
    for (let tries = 0; ; tries += 1) {
      let text = this.fill(this.random.pick(FRAMES[frames]), topic, { ...env })
      while (words(text) < 6)
        text = `${text.replace(/[.?!]$/u, '')}, ${this.fill(this.random.pick(FRAMES.tail), topic)}`
      if (tries < 20 && (words(text) > 40 || this.used.has(text))) continue
      this.used.add(text)
      return capitalised(text)
    }
  }

  /** The same, often with the file it is about. */
  located(frames, topic, x) {
    const text = this.text(frames, topic, { x })
    if (text.includes('/') || words(text) > 34 || !this.random.is(0.4)) return text
    return this.random.pick(LOCATED)(text, this.random.pick(topic.files))
  }

  /** A finding of the topic, or what a rule means for it. */
  finding(topic) {
    return this.fresh(topic, 'finds', this.ruleFor(topic, 0.14))
  }

  task(topic) {
    return this.fresh(topic, 'acts', this.ruleFor(topic, 0.16))
  }

  /** A text this session does not have yet. */
  fresh(topic, name, rule) {
    for (;;) {
      const own = rule === undefined ? this.bag(topic, name) : this.random.pick(rule[name])
      const x = this.fill(own ?? this.random.pick(MORE[name]), topic)
      if (this.used.has(x)) continue
      this.used.add(x)
      return { rule, x }
    }
  }

  /** A step of the topic that is open or done; without one, something small. */
  known(topic, isOpen) {
    const steps = [...this.facts.values()].filter(
      (fact) =>
        fact.kind === 'step.added' &&
        fact.topic === topic &&
        fact.isLive === isOpen &&
        fact.isDropped !== true,
    )
    const step = this.random.pick(steps.slice(-5))
    return step ?? { x: this.fill(this.random.pick(MORE.acts), topic) }
  }

  ruleFor(topic, share) {
    if (!this.random.is(share)) return undefined
    const rules = this.rules.filter(
      ({ said, themes }) => said.length > 0 && themes.includes(topic.theme),
    )
    return rules.length === 0 ? undefined : this.random.pick(rules)
  }

  // Conversations

  open() {
    const [name, goal] = this.random.pick(GOALS)
    const people = this.random.int(2, 5)
    const week = this.random.int(20, 50)
    const git = { branch: `work/${name}`, commit: this.random.hex(40), dirty: 0 }
    this.branch = git.branch
    this.write('session.opened', { name, goal, git })
    this.write('goal.set', { text: `${goal}, with ${people} people until week ${week}` })
  }

  converse(size) {
    const { random } = this
    this.conversations += 1
    this.clock +=
      this.conversations % 2 === 0 || random.is(0.25)
        ? random.between(11, 20) * 3_600_000
        : random.between(0.4, 3) * 3_600_000
    this.conversation = [8, 4, 4, 4, 12].map((length) => random.hex(length)).join('-')
    const conversation = this.conversation
    this.hook('conversation.joined', { conversation, harness: 'claude', source: 'startup' })
    if (!random.is(0.45)) this.theme = random.pick(this.themes)
    const own = random.shuffled(this.topics.filter(({ theme }) => theme === this.theme))
    const topics = own.slice(0, random.int(1, 2))
    if (random.is(0.3)) topics.push(random.pick(this.topics))
    this.ask(topics[0])
    const end = Math.min(this.entries.length + random.int(12, 42), size)
    const names = Object.keys(ACTIONS)
    // A conversation leans to some of the actions.
    const lean = new Map(names.map((name) => [name, random.between(0.4, 1.6)]))
    while (this.entries.length < end) {
      const name = random.weighted(names, (each) => ACTIONS[each] * lean.get(each))
      this[name](random.is(0.93) ? random.pick(topics) : random.pick(this.topics))
      if (random.is(0.012)) this.compact()
    }
    this.endTurn(topics[0])
    if (random.is(0.5)) this.checkpoint(topics[0])
    if (random.is(0.8))
      this.hook('conversation.ended', { conversation, reason: random.pick(['exit', 'clear']) })
  }

  compact() {
    const { conversation } = this
    const tokensBefore = this.random.int(120, 190) * 1000
    this.hook('context.compacted', { trigger: 'auto', conversation, tokensBefore })
  }

  checkpoint(topic) {
    const git = { branch: this.branch, commit: this.random.hex(40), dirty: this.dirty.size }
    const { x } = this.known(topic, true)
    this.write('checkpoint.made', { note: this.text('partly', topic, { x }), git })
    for (const source of this.random
      .shuffled(this.live(['decision.made', 'gotcha.found']))
      .slice(0, 2)) {
      if (source.copies !== undefined || !this.random.is(0.5)) continue
      const text = source.text ?? ''
      const copy = this.write(
        'key.added',
        { text, from: { $ref: source.ref } },
        { topic: source.topic, matters: false, isCopy: true },
      )
      source.copies = [copy.ref]
    }
    if (this.random.is(0.4))
      this.write('tldr.written', { text: this.text('saidPlan', topic, { x }) })
  }

  // Requests

  request(text, about) {
    const { isRuling, ...more } = about
    const { conversation } = this
    const data = isRuling ? { text, conversation, isRuling } : { text, conversation }
    return this.hook('request.made', data, more)
  }

  ask(topic) {
    const { rule, x } = this.task(topic)
    const isRuling = this.random.is(0.04)
    const fact = this.request(this.text('ask', topic, { x }), {
      topic,
      rule,
      isRuling,
      matters: true,
    })
    const ask = { fact, x, topic, steps: [], said: [fact], conversation: this.conversation }
    this.asks.push(ask)
    if (this.random.is(0.8)) this.addStep(topic, { ask, x, rule })
    if (this.random.is(0.4)) this.addStep(topic, { ask })
  }

  chat(topic) {
    const isRuling = this.random.is(0.03)
    this.request(this.text('chat', topic), { topic, isRuling, matters: false })
  }

  askAgain(topic) {
    const open = this.asks.filter(({ steps }) => steps.some(({ isLive }) => isLive))
    const ask = this.random.pick(open) ?? this.random.pick(this.asks)
    if (ask === undefined || ask.said.length > 2) return this.chat(topic)
    const text = this.text('askAgain', ask.topic, { x: ask.x })
    // A mere reminder does not say what is wanted.
    ask.said.push(this.request(text, { topic: ask.topic, matters: text.includes(ask.x) }))
  }

  must(topic) {
    const must = topic.musts.find(({ said }) => said.length === 0)
    if (must === undefined) return this.mustAgain(topic)
    this.sayMust(topic, must)
  }

  sayMust(topic, must, frames) {
    const says = this.random.pick(must.says.filter((each) => each !== must.last))
    must.last = says
    const x = this.fill(says, topic, must.env)
    const text = frames === undefined ? atLeastSix(x) : this.text(frames, topic, { x })
    const isRuling = this.random.is(0.7)
    must.said.push(this.request(text, { topic, isRuling, matters: true, isMust: true }))
  }

  mustAgain(topic) {
    const topics = this.topics.filter(({ musts }) => musts.some(canSayAgain))
    const one = topics.includes(topic) ? topic : this.random.pick(topics)
    if (one === undefined) return this.chat(topic)
    this.sayMust(one, this.random.pick(one.musts.filter(canSayAgain)))
  }

  override(topic) {
    const canChange = ({ said, says, isChanged }) =>
      said.length > 0 && isChanged !== true && /\{[abN]\}/u.test(says[0])
    const topics = this.topics.filter(({ musts }) => musts.some(canChange))
    const one = this.random.pick(topics)
    if (one === undefined) return this.chat(topic)
    const must = one.musts.find(canChange)
    for (const fact of must.said) this.end(fact)
    const { env } = must
    must.said = []
    must.isChanged = true
    must.env = {}
    for (const [key, value] of Object.entries(env))
      must.env[key] = /^\d+$/u.test(value) ? String(Number(value) + this.random.int(1, 6)) : value
    this.sayMust(one, must, 'override')
  }

  rule(topic) {
    const rule = this.rules.find(({ said }) => said.length === 0)
    if (rule === undefined) return this.ruleAgain(topic)
    this.sayRule(rule)
  }

  sayRule(rule) {
    const text = this.bag(rule, 'says')
    const fact = this.random.weighted(
      [
        () => this.request(text, { isRuling: this.random.is(0.75), matters: true }),
        () => this.write('key.added', { text }),
      ],
      (_, index) => [3, 1][index] ?? 1,
    )()
    Object.assign(fact, { rule, isRule: true, text })
    rule.said.push(fact)
  }

  ruleAgain(topic) {
    const said = this.rules.filter((rule) => canSayAgain(rule))
    if (said.length === 0) return this.chat(topic)
    this.sayRule(this.random.pick(said))
  }

  // Decisions and findings

  decide(topic) {
    const own = this.bag(topic, 'picks')
    if (own === undefined) return this.addStep(topic)
    const [p, q, why, whyNot] = own
    const env = { name: this.random.pick(topic.names) }
    const pick = { p: this.fill(p, topic), q: this.fill(q, topic), whyNot }
    this.decision('title', topic, { ...env, ...pick }, why, { pick })
  }

  decision(frames, topic, env, why, about) {
    const { random } = this
    const title = this.text(frames, topic, env)
    const data = { title }
    if (random.is(0.5)) data.context = this.text('context', topic)
    if (random.is(0.4)) data.options = `${env.p}; ${env.q}`
    if (random.is(0.5)) data.choice = capitalised(frames === 'title' ? env.p : env.q)
    if (random.is(0.85)) data.rationale = capitalised(atLeastSix(this.fill(why, topic)))
    const fact = this.write('decision.made', data, { topic, text: title, ...about })
    this.link(fact, this.oneLive(['discovery.made', 'gotcha.found'], topic), 0.4)
    return fact
  }

  replace(topic) {
    const old = this.oneLive(['decision.made'], topic, ({ pick }) => pick?.whyNot !== undefined)
    if (old === undefined) return this.decide(topic)
    const { p, q, whyNot } = old.pick
    const isFirst = this.random.is(0.5)
    const isSaid = this.random.is(0.6)
    const retract = () => {
      if (isSaid) this.retract(old)
    }
    this.end(old)
    if (isFirst) retract()
    const env = { p, q, name: this.random.pick(old.topic.names) }
    this.decision('replace', old.topic, env, whyNot, { pick: { p: q, q: p } })
    if (!isFirst) retract()
  }

  retractDecision(topic) {
    const old = this.oneLive(['decision.made'], topic)
    if (old === undefined) return this.decide(topic)
    this.end(old)
    this.retract(old)
  }

  retract(fact) {
    const data = { entry: { $ref: fact.ref } }
    if (this.random.is(0.8)) data.reason = this.text('retracted', fact.topic ?? this.topics[0])
    this.write('entry.retracted', data)
  }

  find(topic, kind = 'discovery.made') {
    const { rule, x } = this.finding(topic)
    const text = this.located('found', topic, x)
    const fact = this.write(kind, { text }, { topic, rule, text, x })
    this.link(fact, this.oneLive(['blocker.raised', 'test.ran', 'step.added'], topic), 0.25)
  }

  gotcha(topic) {
    this.find(topic, 'gotcha.found')
  }

  retractFinding(topic) {
    const fact = this.oneLive(['discovery.made', 'gotcha.found'], topic)
    if (fact === undefined) return this.find(topic)
    this.end(fact)
    this.retract(fact)
  }

  fixFinding(topic) {
    const fact = this.oneLive(['discovery.made', 'gotcha.found'], topic)
    if (fact === undefined) return this.find(topic)
    this.end(fact)
    this.write('progress.made', { text: this.text('fixed', fact.topic, { x: fact.x }) })
    if (this.random.is(0.5)) this.retract(fact)
  }

  amend(topic) {
    const kinds = ['discovery.made', 'gotcha.found', 'step.added']
    const fact = this.oneLive(kinds, topic, ({ text }) => /\d/u.test(text ?? ''))
    if (fact === undefined) return this.note(topic)
    const text = fact.text.replace(/\d+/u, (digits) =>
      String(Number(digits) + this.random.int(1, 9)),
    )
    this.write('entry.amended', { entry: { $ref: fact.ref }, changes: { text } })
    fact.text = text
  }

  // Blockers and steps

  block(topic) {
    const own = this.bag(topic, 'blocks')
    if (own === undefined) return this.find(topic)
    const [text, resolution] = own.map((each) => this.fill(each, topic))
    this.write('blocker.raised', { text: capitalised(atLeastSix(text)) }, { topic, resolution })
  }

  unblock(topic) {
    const fact = this.oneLive(['blocker.raised'], topic)
    if (fact === undefined) return this.block(topic)
    this.end(fact)
    const data = { blocker: { $ref: fact.ref } }
    if (this.random.is(0.85)) data.resolution = capitalised(fact.resolution)
    this.write('blocker.resolved', data)
  }

  blockAgain(topic) {
    const resolved = this.undone('blocker.raised')
    if (resolved === undefined) return this.block(topic)
    resolved.isLive = true
    this.write('blocker.reopened', { blocker: { $ref: resolved.ref } }, { by: 'document' })
  }

  addStep(topic, { ask, ...given } = {}) {
    const { rule, x } = given.x === undefined ? this.task(topic) : given
    const text = this.located('step', topic, x)
    const isPlanned = this.random.is(0.3)
    const data = isPlanned ? { text, plan: this.conversation } : { text }
    const by = isPlanned ? 'hook' : 'cli'
    const fact = this.write('step.added', data, { topic, rule, by, text, x })
    ask?.steps.push(fact)
    this.link(fact, this.oneLive(['decision.made', 'gotcha.found'], topic), 0.35)
    const elsewhere = this.random.pick(this.topics)
    this.link(fact, this.oneLive(['decision.made', 'discovery.made'], elsewhere), 0.12)
  }

  startStep(topic) {
    const step = this.oneLive(['step.added'], topic, ({ isStarted }) => isStarted !== true)
    if (step === undefined) return this.addStep(topic)
    step.isStarted = true
    this.write('step.started', { step: { $ref: step.ref } })
  }

  finishStep(topic) {
    const step = this.oneLive(['step.added'], topic)
    if (step === undefined) return this.addStep(topic)
    this.end(step)
    this.write('step.done', { step: { $ref: step.ref } })
    if (this.random.is(0.4))
      this.write('progress.made', { text: this.text('done', step.topic, { x: step.x }) })
    if (this.random.is(0.3)) this.commit(step.topic, step.x)
  }

  dropStep(topic) {
    const step = this.oneLive(['step.added'], topic)
    if (step === undefined) return this.note(topic)
    this.end(step)
    step.isDropped = true
    this.hook('step.dropped', { step: { $ref: step.ref } })
  }

  reopenStep(topic) {
    const step = this.undone('step.added')
    if (step === undefined) return this.addStep(topic)
    step.isLive = true
    this.write('step.reopened', { step: { $ref: step.ref } })
  }

  progress(topic) {
    const isPartly = this.random.is(0.45)
    const step = this.known(topic, isPartly)
    const { rule, x } = step
    const text = this.text(isPartly ? 'partly' : 'done', topic, { x })
    const matters = isPartly && this.random.is(0.4)
    const fact = this.write('progress.made', { text }, { topic, rule, matters })
    if (isPartly && step.ref !== undefined) {
      this.link(fact, step, 0.7)
      step.partly = [...(step.partly ?? []), fact]
    }
    this.touch(this.random.pick(topic.files))
  }

  addNext(topic) {
    const { rule, x } = this.task(topic)
    this.write('next.added', { text: this.text('step', topic, { x }) }, { topic, rule, x })
  }

  takeNext(topic) {
    const next = this.oneLive(['next.added'])
    if (next === undefined) return this.addNext(topic)
    this.end(next)
    this.write('next.taken', { next: { $ref: next.ref } })
    if (this.random.is(0.6)) this.addStep(next.topic, { x: next.x, rule: next.rule })
  }

  note(topic) {
    this.write(
      'note.added',
      { text: this.text('note', topic, { x: this.known(topic, true).x }) },
      { topic },
    )
  }

  key(topic) {
    const { rule, x } = this.finding(topic)
    const text = this.located('key', topic, x)
    this.write('key.added', { text }, { topic, rule, text })
  }

  // Code

  touch(file) {
    this.dirty.add(file)
  }

  noteFile(topic) {
    const path = this.random.pick(topic.files)
    const description = this.text('described', topic)
    const known = this.live(['file.noted'], topic).find((fact) => fact.path === path)
    if (known !== undefined) this.end(known)
    this.write('file.noted', { path, description }, { topic, path, files: [path] })
  }

  changeFile(topic) {
    const path = this.random.pick(topic.files)
    const data = this.random.is(0.3)
      ? { path, description: this.text('described', topic) }
      : { path }
    this.write('file.changed', data, { topic, matters: false })
    this.touch(path)
    if (this.random.is(0.15)) this.touch(this.random.pick(topic.files))
  }

  commit(topic, x = this.known(topic, false).x) {
    const isAll = this.random.is(0.3)
    for (const file of this.dirty)
      if (isAll || (topic.files.includes(file) && this.random.is(0.85))) this.dirty.delete(file)
    const commit = this.random.hex(40)
    const git = { branch: this.branch, commit, dirty: this.dirty.size }
    const subject = `${topic.theme}: ${x}`
    this.hook('commit.made', { commit, subject, git }, { topic, matters: false })
  }

  failTest(topic) {
    this.test(topic, false)
  }

  passTest(topic) {
    const failing = this.oneLive(['test.ran'], topic, ({ passed }) => !passed)
    this.test(failing?.topic ?? topic, true, failing?.command)
  }

  test(
    topic,
    passed,
    command = this.random.weighted(topic.tests, (each) => 9 - 3 * topic.tests.indexOf(each)),
  ) {
    const before = this.lastRun.get(command)
    if (before !== undefined) this.end(before)
    const { conversation } = this
    const summary = this.text(passed ? 'pass' : 'fail', topic, { x: this.known(topic, true).x })
    const data = { command, passed, conversation }
    if (this.random.is(0.85)) data.summary = summary
    const about = { topic, command, passed, matters: !passed }
    this.lastRun.set(command, this.hook('test.ran', data, about))
  }

  keepOutput(topic) {
    const lines = this.random.int(200, 9000)
    const data = {
      command: topic.test,
      exit: this.random.int(0, 1),
      artifact: `artifacts/${this.random.hex(12)}.txt`,
      bytes: lines * this.random.int(40, 90),
      lines,
      summary: this.text('fail', topic, { x: this.known(topic, true).x }),
    }
    this.write('output.kept', data, { topic, matters: false })
  }

  research(topic) {
    const { conversation } = this
    const { rule, x } = this.finding(topic)
    const data = {
      agent: this.random.hex(10),
      type: 'Explore',
      task: this.text('research', topic, { x: this.known(topic, true).x }),
      result: this.text('found', topic, { x }),
      conversation,
    }
    this.hook('agent.finished', data, { topic, rule, matters: this.random.is(0.35) })
  }

  delegate(topic) {
    const { rule, x } = this.task(topic)
    const delegate = this.random.hex(8)
    const name = `${topic.theme}-${this.random.int(10, 99)}`
    const branch = `delegate/${name}`
    const what = this.text('step', topic, { x })
    this.write('delegate.begun', { delegate, name, what, branch }, { by: 'run', topic })
    const status = this.random.pick(['merged', 'merged', 'ready', 'failed', 'parked'])
    const isDone = status === 'merged'
    const summary = this.text(isDone ? 'done' : 'partly', topic, { x })
    const about = { by: 'run', topic, rule, matters: !isDone && this.random.is(0.6) }
    this.write('delegate.reported', { delegate, name, status, summary, branch }, about)
  }

  keepCommand(topic) {
    const { random } = this
    const command = random.pick([
      `${topic.test} --reporter=verbose --bail ${random.int(1, 5)}`,
      `node scripts/replay.mjs --only ${topic.theme} --limit ${random.int(100, 9000)}`,
      `git log -p --since ${random.int(2, 40)}.days -- ${random.pick(topic.files)}`,
      `kubectl logs deploy/${topic.theme} --since ${random.int(1, 12)}h | rg -c ERR`,
    ])
    this.write('command.kept', { command }, { topic })
  }

  endTurn(topic) {
    const { conversation, random } = this
    const hasFact = random.is(0.3)
    const isDone = random.is(0.5)
    const frames = hasFact ? 'saidFact' : isDone ? 'saidDone' : 'saidPlan'
    const { rule, x } = hasFact ? this.finding(topic) : this.known(topic, !isDone)
    const data = { conversation, said: this.text(frames, topic, { x }) }
    if (random.is(0.6)) {
      data.model = 'claude-opus-4-1'
      data.usage = {
        input: random.int(3, 900),
        cacheWritten: random.int(200, 9000),
        cacheRead: random.int(9000, 150_000),
        output: random.int(100, 4000),
      }
    }
    this.hook('turn.ended', data, { topic, rule, matters: hasFact && random.is(0.4) })
  }

  // What holds

  end(fact) {
    fact.isLive = false
    // What was half done is done, or no longer wanted.
    for (const partly of fact.partly ?? []) partly.isLive = false
  }

  /** A finished step or resolved blocker that may come back. */
  undone(kind) {
    const ended = [...this.facts.values()].filter(
      (fact) => fact.kind === kind && !fact.isLive && fact.isDropped !== true,
    )
    return this.random.pick(ended)
  }

  link(from, to, share) {
    if (to === undefined || to === from || !this.random.is(share)) return
    from.links.push(to.ref)
    to.links.push(from.ref)
  }

  // What comes next

  outcome() {
    for (const { steps, said, conversation } of this.asks) {
      const isOpen =
        steps.length === 0 ? conversation === this.conversation : steps.some(({ isLive }) => isLive)
      if (!isOpen) for (const fact of said) this.end(fact)
    }
    const standing = [...this.facts.values()].filter(({ isLive, matters }) => isLive && matters)
    const focus = this.focus(standing)
    const uses = this.uses(standing, focus)
    return {
      entries: this.entries,
      continuation: { uses, files: this.changed(focus), same: this.sameAs(uses) },
      open: standing.map(({ ref }) => ref),
    }
  }

  /** The refs that say the same in other words, by what is used. */
  sameAs(uses) {
    const same = {}
    for (const group of this.groups())
      for (const { ref } of group) {
        const others = group.map((fact) => fact.ref).filter((other) => other !== ref)
        if (others.length > 0 && uses.includes(ref)) same[ref] = others
      }
    for (const ref of uses) {
      const { copies = [] } = this.facts.get(ref)
      if (copies.length > 0) same[ref] = [...(same[ref] ?? []), ...copies]
    }
    return same
  }

  groups() {
    return [...this.topics.flatMap(({ musts }) => musts), ...this.rules, ...this.asks].map(
      ({ said }) => said.filter(({ isLive, matters }) => isLive && matters),
    )
  }

  focus(standing) {
    const { random } = this
    const steps = standing.filter(({ kind }) => kind === 'step.added' || kind === 'next.added')
    const opened = steps.slice(-4)
    const latest = random.pick(opened)?.topic.theme ?? this.theme
    const way = random.weighted(['latest', 'older', 'rule'], (each) => WAYS[each])
    if (way === 'rule') {
      const rule = random.weighted(
        this.rules,
        (each) => 0.05 + standing.filter((fact) => fact.rule === each).length,
      )
      const touched = standing.flatMap((fact) =>
        fact.rule === rule && fact.topic !== undefined ? [fact.topic] : [],
      )
      const topics = new Set(random.shuffled([...touched, ...this.topics]).slice(0, 3))
      return this.withFiles({ rule, topics: [...topics, ...touched.slice(0, 2)] })
    }
    const others = this.themes.filter((theme) => theme !== latest)
    const theme =
      way === 'latest'
        ? latest
        : random.weighted(
            others,
            (each) => 1 + standing.filter(({ topic }) => topic?.theme === each).length,
          )
    const topics = this.topics.filter((topic) => topic.theme === theme)
    const first = random.weighted(
      topics,
      (each) => 1 + 2 * steps.filter(({ topic }) => topic === each).length,
    )
    const second = random.is(0.55) ? [random.pick(topics)] : []
    return this.withFiles({ theme, topics: [first, ...second] })
  }

  withFiles(focus) {
    const files = this.random.shuffled(focus.topics.flatMap((topic) => topic.files))
    return { ...focus, files: [...new Set(files)].slice(0, this.random.int(2, 5)) }
  }

  uses(standing, focus) {
    const { random } = this
    const vary = (weight) => weight * random.between(0.5, 1.5)
    const weights = {
      topic: vary(2.6),
      theme: vary(1.1),
      file: vary(1.6),
      rule: vary(3.2),
      general: vary(1.3),
      link: vary(1.8),
      own: vary(1.4),
      late: vary(0.5),
      noise: vary(0.75),
    }
    const needed = Object.fromEntries(
      Object.entries(NEEDED).map(([kind, need]) => [kind, need + random.between(-0.6, 0.6)]),
    )
    const scored = standing.map((fact) => ({
      fact,
      score:
        this.relevance(fact, focus, weights) +
        (needed[fact.kind] ?? 0) +
        weights.noise * random.gumbel(),
    }))
    const count = Math.round((random.int(10, 30) + random.int(10, 26)) / 2)
    const twins = new Map()
    for (const group of this.groups()) for (const fact of group) twins.set(fact.ref, group)
    const taken = []
    while (taken.length < count && scored.length > 0) {
      // What the first of them refer to counts for the rest.
      if (taken.length === Math.round(count * 0.6))
        for (const each of scored)
          if (each.fact.links.some((ref) => taken.includes(ref))) each.score += weights.link
      scored.sort((a, b) => a.score - b.score)
      const { fact } = scored.pop()
      const isSaid = twins.get(fact.ref)?.some(({ ref }) => taken.includes(ref)) ?? false
      if (!isSaid) taken.push(fact.ref)
    }
    return taken.sort((a, b) => this.facts.get(a).index - this.facts.get(b).index)
  }

  relevance(fact, { rule, theme, topics, files }, weights) {
    const { topic } = fact
    let score = weights.own * fact.weight + (weights.late * fact.index) / this.entries.length
    if (topics.includes(topic)) score += rule === undefined ? weights.topic : weights.topic * 0.6
    else if (topic !== undefined && topic.theme === theme) score += weights.theme
    if (files.includes(fact.hidden) || fact.files.some((file) => files.includes(file)))
      score += weights.file
    if (rule !== undefined && fact.rule === rule) score += weights.rule
    if (fact.isMust && (topic.theme === theme || topics.includes(topic))) score += weights.general
    if (fact.isRule && fact.rule.themes.some((each) => topics.some((one) => one.theme === each)))
      score += weights.general
    return score
  }

  changed({ files, topics }) {
    const { random } = this
    const changed = [...this.dirty].filter((file) => {
      const isOwn = topics.some((topic) => topic.files.includes(file))
      return random.is(isOwn ? 0.92 : 0.45)
    })
    changed.push(...files.filter(() => random.is(0.22)))
    if (changed.length === 0 && random.is(0.85)) changed.push(files[0])
    return [...new Set(changed)].slice(0, 14).sort()
  }
}

const LOCATED = [
  (text, file) => `${text} (${file})`,
  (text, file) => `${text}, mostly in ${file}`,
  (text, file) => `${file}: ${text}`,
  (text, file) => `${text}; affects ${file}`,
  (text, file) => `${text}, compare ${file.slice(file.lastIndexOf('/') + 1)}`,
]

const WAYS = { latest: 60, older: 25, rule: 15 }

/** Whether it has a wording left. */
function canSayAgain({ said, says }) {
  return said.length > 0 && said.length < says.length
}

function words(text) {
  return text.split(/\s+/u).filter((word) => word !== '').length
}

function atLeastSix(text) {
  return words(text) < 6 ? `${text.replace(/\.$/u, '')}, and that is all there is` : text
}

/** Starts with a capital letter, unless it starts with an identifier. */
function capitalised(text) {
  return /^[a-z]+(?:-[a-z]+)*(?=[\s,:])/u.test(text) ? text[0].toUpperCase() + text.slice(1) : text
}
