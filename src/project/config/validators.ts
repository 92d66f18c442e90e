// Reading a section by its table of rules refuses every other setting.

export type Refuse = (reason: string) => Error

export type ConfigRule<T> = (value: unknown, key: string, refuse: Refuse) => T

type Rules = Readonly<Record<string, ConfigRule<unknown>>>

type CamelCase<S> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S

type Settings<R extends Rules> = {
  readonly [K in keyof R as CamelCase<K>]?: ReturnType<R[K]>
}

export function section<R extends Rules>(rules: R, noun = 'setting'): ConfigRule<Settings<R>> {
  return (value, key, refuse) => {
    const prefix = key === '' ? '' : `${key}.`
    const settings = entriesOf(value, key, refuse).map(([name, item]) => {
      if (!Object.hasOwn(rules, name))
        throw refuse(
          `there is no ${noun} "${prefix}${name}"; there are ${Object.keys(rules).join(', ')}`,
        )
      return [camelCase(name), rules[name]!(item, `${prefix}${name}`, refuse)]
    })
    return Object.fromEntries(settings) as Settings<R>
  }
}

export function mapOf<T>(rule: ConfigRule<T>): ConfigRule<Readonly<Record<string, T>>> {
  return (value, key, refuse) =>
    Object.fromEntries(
      entriesOf(value, key, refuse).map(([name, item]) => [
        name,
        rule(item, `${key}.${name}`, refuse),
      ]),
    )
}

function entriesOf(value: unknown, key: string, refuse: Refuse) {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refuse(key === '' ? 'it must be a list of settings' : `"${key}" must hold settings`)
  // A key with nothing behind it sets nothing.
  return Object.entries(value).filter(([, item]) => item !== null)
}

function camelCase(name: string) {
  return name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}

export function rule<T>(accepts: (value: unknown) => boolean, expectation: string): ConfigRule<T> {
  return (value, key, refuse) => {
    if (!accepts(value)) throw refuse(`"${key}" ${expectation}`)
    return value as T
  }
}

export function refine<A, B>(
  first: ConfigRule<A>,
  next: (value: A, key: string, refuse: Refuse) => B,
): ConfigRule<B> {
  return (value, key, refuse) => next(first(value, key, refuse), key, refuse)
}

export function textLike(expectation: string): ConfigRule<string> {
  return refine(rule<string>(isText, expectation), (value) => value.trim())
}

export const textRule = textLike('must be a text')

export const textListRule = textListOf(isText, 'must be a list of texts')

export function textListOf(
  accepts: (value: unknown) => boolean,
  expectation: string,
): ConfigRule<readonly string[]> {
  return rule((value) => Array.isArray(value) && value.every(accepts), expectation)
}

export function oneOf<const T>(...allowed: readonly T[]): ConfigRule<T> {
  return rule((value) => allowed.includes(value as T), `is one of ${allowed.join(', ')}`)
}

export const positive = rule<number>(
  (value) => typeof value === 'number' && value > 0,
  'must be a number above 0',
)

export function wholeNumberFrom(min: number, expectation = `must be a whole number from ${min}`) {
  return rule<number>((value) => Number.isInteger(value) && (value as number) >= min, expectation)
}

function isText(value: unknown) {
  return typeof value === 'string' && value.trim() !== ''
}
