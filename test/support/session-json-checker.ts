/** Lists what is wrong with a session.json: an extra, missing or mistyped field. */
export function sessionJsonProblems(value: unknown): readonly string[] {
  return object('session.json', value, {
    session_id: matches(/^\d{4}-\d\d-\d\d_[^\s/]+$/),
    start_time: time,
    complexity: oneOf('simple', 'medium', 'complex'),
    domain: oneOf('frontend', 'backend', 'fullstack', 'devops'),
    tasks: listOf((path, task) =>
      object(path, task, {
        id: text,
        description: string,
        status: oneOf('pending', 'working', 'done', 'paused', 'delegated'),
        assigned_to: text,
        parent_id: orNull(text),
        dependencies: listOf(text),
        checklist: listOf((item, one) => object(item, one, { item: string, done: boolean })),
        start_time: orNull(time),
        end_time: orNull(time),
        files: listOf(text),
      }),
    ),
    delegates: listOf((path, delegate) =>
      object(path, delegate, {
        id: text,
        agent: text,
        task_id: orNull(text),
        prompt: string,
        status: oneOf('running', 'completed', 'failed'),
        result: orNull(string),
      }),
    ),
    parallel_groups: listOf((path, group) =>
      object(path, group, {
        group_id: text,
        tasks: listOf(text),
        status: oneOf('running', 'completed'),
      }),
    ),
    updated_at: time,
  }).concat(dangling(value))
}

type Check = (path: string, value: unknown) => readonly string[]

const check =
  (what: string, holds: (value: unknown) => boolean): Check =>
  (path, value) =>
    holds(value) ? [] : [`${path} is ${JSON.stringify(value)} and not ${what}`]

const string = check('a text', (value) => typeof value === 'string')
const text = check(
  'a text that says something',
  (value) => typeof value === 'string' && value !== '',
)
const boolean = check('true or false', (value) => typeof value === 'boolean')
const matches = (pattern: RegExp) =>
  check(String(pattern), (value) => typeof value === 'string' && pattern.test(value))
const time = matches(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
const oneOf = (...words: readonly string[]) =>
  check(words.join('|'), (value) => words.includes(value as string))
const orNull =
  (inner: Check): Check =>
  (path, value) =>
    value === null ? [] : inner(path, value)
const listOf =
  (inner: Check): Check =>
  (path, value) =>
    Array.isArray(value)
      ? value.flatMap((item, index) => inner(`${path}[${index}]`, item))
      : [`${path} is no list`]

function object(
  path: string,
  value: unknown,
  fields: Readonly<Record<string, Check>>,
): readonly string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return [`${path} is no object`]
  const found = value as Record<string, unknown>
  // The fields must also be in the order of the schema, because people compare these files.
  const names = Object.keys(found)
  const order =
    names.join() === Object.keys(fields).join()
      ? []
      : [`${path} has the fields ${names.join(', ')}`]
  return [
    ...order,
    ...Object.entries(fields).flatMap(([name, inner]) => inner(`${path}.${name}`, found[name])),
  ]
}

function dangling(value: unknown): readonly string[] {
  const {
    tasks = [],
    delegates = [],
    parallel_groups: groups = [],
  } = value as {
    tasks?: { id: string; parent_id: string | null }[]
    delegates?: { task_id: string | null }[]
    parallel_groups?: { tasks: string[] }[]
  }
  const ids = new Set(tasks.map((task) => task.id))
  const named = [
    ...tasks.map((task) => task.parent_id),
    ...delegates.map((one) => one.task_id),
    ...groups.flatMap((group) => group.tasks),
  ]
  const twice = ids.size === tasks.length ? [] : ['two tasks have one id']
  return [
    ...twice,
    ...named
      .filter((id) => id !== null && !ids.has(id))
      .map((id) => `there is no task ${String(id)}`),
  ]
}
