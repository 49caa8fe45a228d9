import { expect, test } from 'vitest'
import { toward, type Place, type Way } from './roving'

const box = (left: number, top: number, width = 180, height = 60): Place => ({ left, top, right: left + width, bottom: top + height })
/** Two sub-columns of a step, a row below the two, and a column of another step. */
const places = [box(0, 0), box(0, 66), box(192, 0, 180, 90), box(192, 96), box(0, 160, 180, 24), box(384, 40)]

test.each<[number, Way, number]>([
  [0, 'ArrowDown', 1],
  [1, 'ArrowUp', 0],
  [1, 'ArrowDown', 4],
  [0, 'ArrowUp', -1],
  [0, 'ArrowRight', 2],
  [1, 'ArrowRight', 3],
  [2, 'ArrowRight', 5],
  [5, 'ArrowLeft', 2],
  [3, 'ArrowLeft', 1],
  [4, 'ArrowLeft', -1],
  [9, 'ArrowUp', -1],
])('from place %i, %s leads to place %i', (from, way, to) => expect(toward(places, from, way)).toBe(to))
