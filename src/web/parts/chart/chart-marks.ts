import type { MarkGroup } from './chart-data.ts';

const tones: Readonly<Record<MarkGroup['kind'], string>> = { launch: '--good', end: '--text-2', failure: '--bad' };

/** Draws the sign of one group of marks: a triangle up for launches, down for ends, a cross for failures. */
export function drawMark(
  context: CanvasRenderingContext2D,
  group: MarkGroup,
  x: number,
  y: number,
  ratio: number,
  colour: (name: string) => string,
): void {
  const size = 4.5 * ratio;
  const tone = colour(tones[group.kind]);
  context.save();
  context.fillStyle = tone;
  context.strokeStyle = tone;
  context.lineWidth = 1.8 * ratio;
  context.beginPath();
  if (group.kind === 'failure') {
    context.moveTo(x - size * 0.8, y - size * 0.8);
    context.lineTo(x + size * 0.8, y + size * 0.8);
    context.moveTo(x + size * 0.8, y - size * 0.8);
    context.lineTo(x - size * 0.8, y + size * 0.8);
    context.stroke();
  } else {
    const tip = group.kind === 'launch' ? -1 : 1;
    context.moveTo(x, y + tip * size);
    context.lineTo(x + size, y - tip * size * 0.8);
    context.lineTo(x - size, y - tip * size * 0.8);
    context.closePath();
    context.fill();
  }
  context.restore();
}
