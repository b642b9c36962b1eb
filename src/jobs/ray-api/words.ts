/** Refusals as Ray words them; its clients and the programs around them look for these texts. */
export const words = {
  notFound: (job: string): string => `Job ${job} does not exist`,
  exists: (job: string): string =>
    `Job with submission_id ${job} already exists. Please use a different submission_id.`,
  tooLarge: (limit: number): string => `Maximum request body size ${limit} exceeded.`,
};
