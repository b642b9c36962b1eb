/** Whether a file leaves the image to be chosen, by what it says in its place: nothing, or Ray's own word for it. */
export const isDefault = (image: unknown): boolean =>
  image === undefined || image === null || image === '' || String(image).toLowerCase() === 'latest_dlami';
