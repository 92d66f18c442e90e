import type { LaneBlock, RunLane, RunTaskRow } from '../../src/serve/contract.ts'
import { formatDuration } from '../components/format.ts'
import { Text } from '../components/text.tsx'
import { hrefTo } from '../data/router.ts'
import { type LaneLayout, layOutLanes } from './lane-layout.ts'
import { GLYPHS } from './task-graph.tsx'

/** In percent: a narrower block has no room for a name. */
const MIN_NAMED_WIDTH = 7

export function RunLanes({
  lanes,
  tasks,
  chosen,
}: {
  lanes: readonly RunLane[]
  tasks: readonly RunTaskRow[]
  chosen: string | undefined
}) {
  const layout = layOutLanes(lanes, new Date().toISOString())
  const names = new Map(
    tasks.flatMap(({ task }) => [[task.id, task.title] as const, [task.name, task.title] as const]),
  )
  const ids = new Map(
    tasks.flatMap(({ task }) => [[task.id, task.id] as const, [task.name, task.id] as const]),
  )
  return (
    <div class="lanes" tabIndex={0} role="region" aria-label="Sessions over time">
      <div class="lanes-sheet">
        <LaneScale layout={layout} />
        <ul class="lane-list">
          {layout.lanes.map(({ lane, blocks }) => (
            <li key={lane.session} class="lane">
              <a class="lane-name" href={hrefTo.session(lane.session)}>
                <Text>{lane.name}</Text>
              </a>
              <ol class="lane-track">
                {blocks.map(({ block, left, width }) => (
                  <li
                    key={`${block.task} ${block.attempt} ${block.startedAt}`}
                    style={{ left: `${left}%`, width: `${width}%` }}
                  >
                    <Attempt
                      block={block}
                      title={names.get(block.task) ?? block.task}
                      id={ids.get(block.task) ?? block.task}
                      isNamed={width >= MIN_NAMED_WIDTH}
                      isChosen={chosen !== undefined && ids.get(block.task) === chosen}
                    />
                  </li>
                ))}
                {layout.pauses.map(({ left, width }) => (
                  <li
                    key={left}
                    class="lane-pause"
                    style={{ left: `${left}%`, width: `${width}%` }}
                    aria-hidden="true"
                  />
                ))}
              </ol>
            </li>
          ))}
        </ul>
      </div>
    </div>
  )
}

function LaneScale({ layout }: { layout: LaneLayout }) {
  return (
    <div class="lane lane-scale" aria-hidden="true">
      <span class="lane-name">Session</span>
      <div class="lane-track">
        {layout.ticks.map(({ left, seconds }) => (
          <span key={`${left} ${seconds}`} class="lane-tick" style={{ left: `${left}%` }}>
            {seconds === 0 ? '0' : formatDuration(seconds)}
          </span>
        ))}
        {layout.pauses.map(({ left, width, seconds }) => (
          <span
            key={left}
            class="lane-break"
            style={{ left: `${left}%`, width: `${width}%` }}
            title={`Nobody worked for ${formatDuration(seconds)}`}
          >
            ≈
          </span>
        ))}
      </div>
    </div>
  )
}

interface AttemptProps {
  readonly block: LaneBlock
  readonly title: string
  readonly id: string
  readonly isNamed: boolean
  readonly isChosen: boolean
}

function Attempt({ block, title, id, isNamed, isChosen }: AttemptProps) {
  const { attempt, outcome, startedAt, endedAt, reason } = block
  const took =
    endedAt === undefined
      ? 'still running'
      : formatDuration((Date.parse(endedAt) - Date.parse(startedAt)) / 1000)
  const description = [
    `${title}: attempt ${attempt}, ${outcome}`,
    took,
    ...(reason === undefined ? [] : [reason]),
  ]
  return (
    <a
      class="attempt"
      href={`#task-${id}`}
      data-outcome={outcome}
      data-retry={attempt > 1}
      data-chosen={isChosen}
      title={description.join('\n')}
      aria-label={description.join(', ')}
    >
      <span aria-hidden="true">
        <span class="attempt-glyph" data-attempt={attempt > 1 ? attempt : undefined}>
          {GLYPHS[outcome]}
        </span>
        {isNamed ? <span class="attempt-name">{title}</span> : null}
      </span>
    </a>
  )
}
